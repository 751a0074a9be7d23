import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.messaging.converter.SimpleMessageConverter;
import org.springframework.messaging.simp.stomp.ReactorNettyTcpStompClient;
import org.springframework.messaging.simp.stomp.StompFrameHandler;
import org.springframework.messaging.simp.stomp.StompHeaders;
import org.springframework.messaging.simp.stomp.StompSession;
import org.springframework.messaging.simp.stomp.StompSessionHandlerAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

class Spring {
    /** Got is a message. */
    record Got(StompHeaders headers, byte[] octets) {
        String text() {
            return new String(octets, java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    /** Open is a session that puts what comes in a queue, and why it ended in lost. */
    static class Open extends StompSessionHandlerAdapter implements StompFrameHandler {
        final BlockingQueue<Got> messages = new ArrayBlockingQueue<>(100);
        final CompletableFuture<String> lost = new CompletableFuture<>();
        final CompletableFuture<StompHeaders> connected = new CompletableFuture<>();
        StompSession session;

        @Override
        public Type getPayloadType(StompHeaders headers) {
            return byte[].class;
        }

        @Override
        public void handleFrame(StompHeaders headers, Object payload) {
            if (headers.getFirst("subscription") == null) { // an ERROR goes to the handler of the session
                lost.complete(headers.getFirst("message"));
            } else {
                messages.add(new Got(headers, payload == null ? new byte[0] : (byte[]) payload));
            }
        }

        @Override
        public void afterConnected(StompSession session, StompHeaders headers) {
            connected.complete(headers);
        }

        @Override
        public void handleTransportError(StompSession session, Throwable problem) {
            lost.complete(problem.toString());
        }

        void confirmed(StompHeaders headers, byte[] body) throws Exception {
            CompletableFuture<Void> done = new CompletableFuture<>();
            session.setAutoReceipt(true);
            session.send(headers, body).addReceiptTask(() -> done.complete(null));
            session.setAutoReceipt(false);
            done.get(8, TimeUnit.SECONDS);
        }

        void send(String destination, String body, String... headers) throws Exception {
            confirmed(headers("destination", destination, headers), body.getBytes("UTF-8"));
        }

        StompSession.Subscription subscribe(String destination, String... headers) throws Exception {
            StompSession.Subscription subscription = session.subscribe(headers("destination", destination, headers), this);
            send("/topic/nobody", ""); // is answered after the SUBSCRIBE was taken
            return subscription;
        }

        Got next(String body) throws Exception {
            Got message = messages.poll(8, TimeUnit.SECONDS);
            Features.demand(message != null, "no message came, instead of " + body);
            Features.demand(body == null || message.text().equals(body), "received " + message.text() + ", not " + body);
            return message;
        }

        /** handle sends ACK or NACK. */
        void handle(Got message, boolean consumed) {
            String id = message.headers.getFirst("ack");
            session.acknowledge(id != null ? id : message.headers.getMessageId(), consumed);
        }

        void close() {
            session.disconnect();
        }
    }

    static ThreadPoolTaskScheduler scheduler;

    static StompHeaders headers(String name, String value, String... more) {
        StompHeaders headers = new StompHeaders();
        headers.add(name, value);
        for (int i = 0; i < more.length; i += 2) {
            headers.add(more[i], more[i + 1]);
        }
        return headers;
    }

    static Open open(String suffix, long beat, String... connect) throws Exception {
        ReactorNettyTcpStompClient client = new ReactorNettyTcpStompClient(Features.host(), Features.port("STOMP" + suffix));
        client.setMessageConverter(new SimpleMessageConverter());
        client.setDefaultHeartbeat(new long[] {beat, beat});
        client.setTaskScheduler(scheduler);
        Open open = new Open();
        open.session = client.connectAsync(headers("host", "localhost", connect), open).get(8, TimeUnit.SECONDS);
        return open;
    }

    static Open open() throws Exception {
        return open("", 0);
    }

    public static void main(String[] args) throws Exception {
        scheduler = new ThreadPoolTaskScheduler();
        scheduler.setDaemon(true);
        scheduler.initialize();
        Features features = new Features();
        features.lacks("1.0", "it speaks 1.1 and 1.2");
        features.attempt("1.1", () -> speaks("1.1"));
        features.attempt("1.2", () -> speaks("1.2"));
        features.attempt("send", Spring::send);
        features.attempt("auto", () -> acknowledged("auto", false));
        features.attempt("client", () -> acknowledged("client", true, "3"));
        features.attempt("individual", () -> acknowledged("client-individual", true, "1", "3"));
        features.attempt("nack", Spring::nack);
        features.lacks("commit", "it has no transactions");
        features.lacks("abort", "it has no transactions");
        features.attempt("receipt", Spring::receipt);
        features.attempt("beats", Spring::beats);
        features.attempt("missed", () -> open("_SILENT", 1000).lost.get(10, TimeUnit.SECONDS));
        features.attempt("selector", Spring::selector);
        features.attempt("durable", Spring::durable);
        features.attempt("delay", Spring::delay);
        features.attempt("reply", Spring::reply);
        features.attempt("binary", Spring::binary);
        features.attempt("error", Spring::error);
        features.attempt("reconnect", Spring::reconnect);
        System.exit(0);
    }

    static void speaks(String version) throws Exception {
        Open s = open("", 0, "accept-version", version);
        String agreed = s.connected.get(8, TimeUnit.SECONDS).getFirst("version");
        Features.demand(agreed.equals(version), "connected with " + agreed);
        s.subscribe("/queue/v" + version, "ack", "client");
        s.send("/queue/v" + version, "x");
        s.handle(s.next("x"), true);
        s.send("/topic/nobody", "");
        s.close();
        left("/queue/v" + version);
    }

    static void left(String queue, String... bodies) throws Exception {
        Open s = open();
        s.subscribe(queue);
        for (String body : bodies) {
            s.next(body);
        }
        s.send(queue, "end");
        s.next("end");
        s.close();
    }

    static void send() throws Exception {
        Open s = open();
        s.subscribe("/queue/send");
        s.send("/queue/send", "Grüße, 世界", "kind", "a greeting: 1");
        String kind = s.next("Grüße, 世界").headers.getFirst("kind");
        Features.demand(kind.equals("a greeting: 1"), "its header is " + kind);
        s.close();
    }

    static void acknowledged(String mode, boolean acknowledge, String... left) throws Exception {
        Open s = open();
        for (String body : new String[] {"1", "2", "3"}) {
            s.send("/queue/" + mode, body);
        }
        s.subscribe("/queue/" + mode, "ack", mode);
        Got[] messages = {s.next("1"), s.next("2"), s.next("3")};
        if (acknowledge) {
            s.handle(messages[1], true);
        }
        s.send("/topic/nobody", "");
        s.close();
        left("/queue/" + mode, left);
    }

    static void nack() throws Exception {
        Open s = open();
        s.subscribe("/queue/nack", "ack", "client-individual");
        s.send("/queue/nack", "again");
        s.handle(s.next("again"), false);
        Got message = s.next("again");
        Features.demand("true".equals(message.headers.getFirst("redelivered")), "it is not marked as redelivered");
        s.handle(message, true);
        s.send("/topic/nobody", "");
        s.close();
    }

    static void receipt() throws Exception {
        Open s = open();
        s.send("/queue/receipt", "x");
        s.close();
    }

    static void beats() throws Exception {
        Open s = open("", 1000);
        try {
            throw new IllegalStateException("lost: " + s.lost.get(3500, TimeUnit.MILLISECONDS));
        } catch (java.util.concurrent.TimeoutException kept) {
            s.send("/queue/beats", "x");
        }
        s.close();
    }

    static void selector() throws Exception {
        Open s = open();
        s.subscribe("/topic/selector", "selector", "n > 1 AND kind LIKE 'a%'");
        s.send("/topic/selector", "one", "n", "1", "kind", "ab");
        s.send("/topic/selector", "two", "n", "2", "kind", "ab");
        s.next("two");
        s.close();
    }

    static void durable() throws Exception {
        String[] news = {"id", "news", "durable", "true"};
        Open s = open("", 0, "client-id", "reader");
        s.subscribe("/topic/durable", news);
        s.close();
        s = open();
        s.send("/topic/durable", "while away");
        s.close();
        s = open("", 0, "client-id", "reader");
        StompSession.Subscription subscription = s.subscribe("/topic/durable", news);
        s.next("while away");
        subscription.unsubscribe(headers("id", "news", "durable", "true"));
        s.send("/topic/durable", "after the end");
        s.close();
        s = open("", 0, "client-id", "reader");
        s.subscribe("/topic/durable", news);
        s.send("/topic/durable", "anew");
        s.next("anew");
        s.close();
    }

    static void delay() throws Exception {
        Open s = open();
        s.subscribe("/queue/delay");
        long sent = System.nanoTime();
        s.send("/queue/delay", "later", "AMQ_SCHEDULED_DELAY", "700");
        s.send("/queue/delay", "now");
        s.next("now");
        s.next("later");
        Features.demand(System.nanoTime() - sent >= 700_000_000L, "it came too early");
        s.close();
    }

    static void reply() throws Exception {
        Open asks = open();
        Open answers = open();
        answers.subscribe("/queue/requests");
        asks.subscribe("/temp-queue/replies");
        asks.send("/queue/requests", "how much?", "reply-to", "/temp-queue/replies", "correlation-id", "7");
        StompHeaders request = answers.next("how much?").headers;
        answers.send(request.getFirst("reply-to"), "42", "correlation-id", request.getFirst("correlation-id"));
        Features.demand("7".equals(asks.next("42").headers.getFirst("correlation-id")), "it answers something else");
        asks.close();
        answers.close();
    }

    static void binary() throws Exception {
        Open s = open();
        s.subscribe("/queue/binary");
        byte[] octets = {0, 1, 10, 13, 0, -1, -128, 0};
        s.confirmed(headers("destination", "/queue/binary", "content-type", "application/octet-stream"), octets);
        byte[] found = s.next(null).octets;
        Features.demand(Arrays.equals(found, octets), "received " + Arrays.toString(found));
        s.close();
    }

    static void error() throws Exception {
        Open s = open();
        s.session.send("/nonsense/x", new byte[0]);
        String why = s.lost.get(8, TimeUnit.SECONDS);
        Features.demand(why.contains("/nonsense/x"), "it says " + why);
    }

    /** reconnect: the program is told, and connects again. */
    static void reconnect() throws Exception {
        Open s = open("_CUT", 0);
        s.send("/queue/reconnect", "kept");
        s.subscribe("/topic/cut");
        s.session.send("/topic/cut", "cut-here".getBytes("UTF-8"));
        s.lost.get(8, TimeUnit.SECONDS);
        left("/queue/reconnect", "kept");
    }
}
