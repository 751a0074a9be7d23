import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.messaging.Message;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.stomp.StompBrokerRelayMessageHandler;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.simp.user.DefaultUserDestinationResolver;
import org.springframework.messaging.simp.user.SimpSubscription;
import org.springframework.messaging.simp.user.SimpSubscriptionMatcher;
import org.springframework.messaging.simp.user.SimpUser;
import org.springframework.messaging.simp.user.SimpUserRegistry;
import org.springframework.messaging.simp.user.UserDestinationMessageHandler;
import org.springframework.messaging.support.ExecutorSubscribableChannel;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Relay is an application with a broker relay. Its clients are what a browser's frames are behind its WebSocket. */
class Relay {
    final ExecutorSubscribableChannel inbound = new ExecutorSubscribableChannel();
    final ExecutorSubscribableChannel outbound = new ExecutorSubscribableChannel();
    final ExecutorSubscribableChannel broker = new ExecutorSubscribableChannel();
    final StompBrokerRelayMessageHandler handler;
    final Map<String, Client> clients = new ConcurrentHashMap<>();
    static final AtomicInteger SERIAL = new AtomicInteger();

    Relay(String suffix, long beat) throws Exception {
        handler = new StompBrokerRelayMessageHandler(inbound, outbound, broker, List.of("/queue/", "/topic/", "/temp-queue/", "/nonsense/"));
        handler.setRelayHost(Features.host());
        handler.setRelayPort(Features.port("STOMP" + suffix));
        handler.setSystemHeartbeatSendInterval(beat);
        handler.setSystemHeartbeatReceiveInterval(beat);
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        scheduler.setDaemon(true);
        scheduler.initialize();
        handler.setTaskScheduler(scheduler);
        outbound.subscribe(message -> {
            Client client = clients.get(SimpMessageHeaderAccessor.getSessionId(message.getHeaders()));
            if (client != null) {
                client.frames.add(message);
            }
        });
        UserDestinationMessageHandler users = new UserDestinationMessageHandler(inbound, broker, new DefaultUserDestinationResolver(new Nobody()));
        users.start();
        handler.start();
        for (int i = 0; i < 800 && !handler.isBrokerAvailable(); i++) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        Features.demand(handler.isBrokerAvailable(), "the broker is not available");
    }

    /** Nobody is a registry without users: sessions are addressed by their ids. */
    static class Nobody implements SimpUserRegistry {
        @Override
        public SimpUser getUser(String name) {
            return null;
        }

        @Override
        public Set<SimpUser> getUsers() {
            return Set.of();
        }

        @Override
        public int getUserCount() {
            return 0;
        }

        @Override
        public Set<SimpSubscription> findSubscriptions(SimpSubscriptionMatcher matcher) {
            return Set.of();
        }
    }

    class Client {
        final String id = "s" + SERIAL.incrementAndGet();
        final BlockingQueue<Message<?>> frames = new LinkedBlockingQueue<>();
        final BlockingQueue<Message<?>> messages = new LinkedBlockingQueue<>();
        final StompHeaderAccessor connected;

        Client(String... headers) throws Exception {
            clients.put(id, this);
            say(StompCommand.CONNECT, null, headers.length > 0 ? headers : new String[] {"accept-version", "1.2", "heart-beat", "0,0"});
            connected = await(StompCommand.CONNECTED);
        }

        void say(StompCommand command, byte[] body, String... headers) {
            StompHeaderAccessor frame = StompHeaderAccessor.create(command);
            frame.setSessionId(id);
            for (int i = 0; i < headers.length; i += 2) {
                frame.setNativeHeader(headers[i], headers[i + 1]);
                if (headers[i].equals("destination")) {
                    frame.setDestination(headers[i + 1]);
                }
                if (headers[i].equals("id") && command != StompCommand.ACK && command != StompCommand.NACK) {
                    frame.setSubscriptionId(headers[i + 1]);
                }
            }
            inbound.send(MessageBuilder.createMessage(body == null ? new byte[0] : body, frame.getMessageHeaders()));
        }

        /** await takes frames until one of that command comes, and keeps messages. */
        StompHeaderAccessor await(StompCommand command) throws Exception {
            for (;;) {
                Message<?> frame = frames.poll(8, TimeUnit.SECONDS);
                Features.demand(frame != null, "no " + command + " came");
                StompHeaderAccessor headers = StompHeaderAccessor.wrap(frame);
                StompCommand got = headers.getCommand() == null ? StompCommand.CONNECTED : headers.getCommand();
                if (got == StompCommand.MESSAGE) {
                    messages.add(frame);
                }
                if (got == command) {
                    return headers;
                }
                Features.demand(got != StompCommand.ERROR, "ERROR: " + headers.getMessage());
            }
        }

        void confirmed(StompCommand command, byte[] body, String... headers) throws Exception {
            String receipt = "r" + SERIAL.incrementAndGet();
            String[] more = Arrays.copyOf(headers, headers.length + 2);
            more[headers.length] = "receipt";
            more[headers.length + 1] = receipt;
            say(command, body, more);
            Features.demand(receipt.equals(await(StompCommand.RECEIPT).getReceiptId()), "a wrong receipt came");
        }

        void send(String destination, String body, String... headers) throws Exception {
            confirmed(StompCommand.SEND, body.getBytes("UTF-8"), with(headers, "destination", destination));
        }

        void subscribe(String destination, String... headers) throws Exception {
            confirmed(StompCommand.SUBSCRIBE, null, with(headers, "destination", destination, "id", destination));
        }

        String[] with(String[] headers, String... more) {
            String[] all = Arrays.copyOf(more, more.length + headers.length);
            System.arraycopy(headers, 0, all, more.length, headers.length);
            return all;
        }

        Message<?> next(String body) throws Exception {
            if (messages.isEmpty()) {
                await(StompCommand.MESSAGE);
            }
            Message<?> message = messages.take();
            String text = new String((byte[]) message.getPayload(), "UTF-8");
            Features.demand(body == null || text.equals(body), "received " + text + ", not " + body);
            return message;
        }

        String header(Message<?> message, String name) {
            return StompHeaderAccessor.wrap(message).getFirstNativeHeader(name);
        }

        void close() throws Exception {
            confirmed(StompCommand.DISCONNECT, null);
            clients.remove(id);
        }
    }

    void left(String queue, String... bodies) throws Exception {
        Client c = new Client();
        c.subscribe(queue);
        for (String body : bodies) {
            c.next(body);
        }
        c.send(queue, "end");
        c.next("end");
        c.close();
    }

    public static void main(String[] args) throws Exception {
        Features features = new Features();
        Relay app = new Relay("", 1000);
        features.lacks("1.0", "it speaks 1.1 and 1.2");
        features.attempt("1.1", () -> app.speaks("1.1"));
        features.attempt("1.2", () -> app.speaks("1.2"));
        features.attempt("send", app::send);
        features.attempt("auto", () -> app.acknowledged("auto", false));
        features.attempt("client", () -> app.acknowledged("client", true, "3"));
        features.attempt("individual", () -> app.acknowledged("client-individual", true, "1", "3"));
        features.attempt("nack", app::nack);
        features.attempt("commit", app::commit);
        features.attempt("abort", app::abort);
        features.attempt("receipt", () -> app.left("/queue/receipt"));
        features.attempt("beats", app::beats);
        features.attempt("missed", Relay::missed);
        features.attempt("selector", app::selector);
        features.attempt("durable", app::durable);
        features.attempt("delay", app::delay);
        features.attempt("reply", app::reply);
        features.attempt("binary", app::binary);
        features.attempt("error", app::error);
        features.attempt("reconnect", Relay::reconnect);
        System.exit(0);
    }

    void speaks(String version) throws Exception {
        Client c = new Client("accept-version", version, "heart-beat", "0,0");
        String agreed = c.connected.getVersion();
        Features.demand(version.equals(agreed), "connected with " + agreed);
        c.send("/queue/v" + version, "x");
        c.close();
        left("/queue/v" + version, "x");
    }

    void send() throws Exception {
        Client c = new Client();
        c.subscribe("/queue/send");
        c.send("/queue/send", "Grüße, 世界", "kind", "a greeting: 1");
        String kind = c.header(c.next("Grüße, 世界"), "kind");
        Features.demand("a greeting: 1".equals(kind), "its header is " + kind);
        c.close();
    }

    void acknowledged(String mode, boolean acknowledge, String... left) throws Exception {
        Client c = new Client();
        for (String body : new String[] {"1", "2", "3"}) {
            c.send("/queue/" + mode, body);
        }
        c.subscribe("/queue/" + mode, "ack", mode);
        Message<?>[] messages = {c.next("1"), c.next("2"), c.next("3")};
        if (acknowledge) {
            c.confirmed(StompCommand.ACK, null, "id", c.header(messages[1], "ack"));
        }
        c.close();
        left("/queue/" + mode, left);
    }

    void nack() throws Exception {
        Client c = new Client();
        c.subscribe("/queue/nack", "ack", "client-individual");
        c.send("/queue/nack", "again");
        c.confirmed(StompCommand.NACK, null, "id", c.header(c.next("again"), "ack"));
        Message<?> message = c.next("again");
        Features.demand("true".equals(c.header(message, "redelivered")), "it is not marked as redelivered");
        c.confirmed(StompCommand.ACK, null, "id", c.header(message, "ack"));
        c.close();
    }

    void commit() throws Exception {
        Client c = new Client();
        c.send("/queue/in", "order");
        c.subscribe("/queue/in", "ack", "client-individual");
        Message<?> order = c.next("order");
        c.subscribe("/queue/commit");
        c.confirmed(StompCommand.BEGIN, null, "transaction", "t");
        c.confirmed(StompCommand.ACK, null, "id", c.header(order, "ack"), "transaction", "t");
        c.send("/queue/commit", "inside", "transaction", "t");
        c.send("/queue/commit", "outside");
        c.next("outside");
        c.confirmed(StompCommand.COMMIT, null, "transaction", "t");
        c.next("inside");
        c.close();
        left("/queue/in");
    }

    void abort() throws Exception {
        Client c = new Client();
        c.confirmed(StompCommand.BEGIN, null, "transaction", "t");
        c.send("/queue/abort", "inside", "transaction", "t");
        c.confirmed(StompCommand.ABORT, null, "transaction", "t");
        c.close();
        left("/queue/abort");
    }

    void beats() throws Exception {
        TimeUnit.MILLISECONDS.sleep(3500);
        Features.demand(handler.isBrokerAvailable(), "the broker was lost");
    }

    static void missed() throws Exception {
        Relay app = new Relay("_SILENT", 1000);
        for (int i = 0; i < 1000 && app.handler.isBrokerAvailable(); i++) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        Features.demand(!app.handler.isBrokerAvailable(), "the silence was not noticed");
        app.handler.stop();
    }

    void selector() throws Exception {
        Client c = new Client();
        c.subscribe("/topic/selector", "selector", "n > 1 AND kind LIKE 'a%'");
        c.send("/topic/selector", "one", "n", "1", "kind", "ab");
        c.send("/topic/selector", "two", "n", "2", "kind", "ab");
        c.next("two");
        c.close();
    }

    void durable() throws Exception {
        String[] connect = {"accept-version", "1.2", "heart-beat", "0,0", "client-id", "reader"};
        Client c = new Client(connect);
        c.subscribe("/topic/durable", "durable", "true");
        c.close();
        c = new Client();
        c.send("/topic/durable", "while away");
        c.close();
        c = new Client(connect);
        c.subscribe("/topic/durable", "durable", "true");
        c.next("while away");
        c.confirmed(StompCommand.UNSUBSCRIBE, null, "id", "/topic/durable", "durable", "true");
        c.send("/topic/durable", "after the end");
        c.close();
        c = new Client(connect);
        c.subscribe("/topic/durable", "durable", "true");
        c.send("/topic/durable", "anew");
        c.next("anew");
        c.close();
    }

    void delay() throws Exception {
        Client c = new Client();
        c.subscribe("/queue/delay");
        long sent = System.nanoTime();
        c.send("/queue/delay", "later", "AMQ_SCHEDULED_DELAY", "700");
        c.send("/queue/delay", "now");
        c.next("now");
        c.next("later");
        Features.demand(System.nanoTime() - sent >= 700_000_000L, "it came too early");
        c.close();
    }

    /** reply: the answer goes to a destination of the user who asked, as @SendToUser does it. */
    void reply() throws Exception {
        Client asks = new Client();
        Client answers = new Client();
        answers.subscribe("/queue/requests");
        asks.subscribe("/user/queue/replies");
        asks.send("/queue/requests", "how much?", "asked-by", asks.id);
        String who = answers.header(answers.next("how much?"), "asked-by");
        SimpMessageHeaderAccessor headers = SimpMessageHeaderAccessor.create();
        headers.setSessionId(who);
        headers.setDestination("/user/" + who + "/queue/replies");
        broker.send(MessageBuilder.createMessage("42".getBytes("UTF-8"), headers.getMessageHeaders()));
        asks.next("42");
        asks.close();
        answers.close();
    }

    void binary() throws Exception {
        Client c = new Client();
        c.subscribe("/queue/binary");
        byte[] octets = {0, 1, 10, 13, 0, -1, -128, 0};
        c.confirmed(StompCommand.SEND, octets, "destination", "/queue/binary", "content-type", "application/octet-stream");
        byte[] found = (byte[]) c.next(null).getPayload();
        Features.demand(Arrays.equals(found, octets), "received " + Arrays.toString(found));
        c.close();
    }

    void error() throws Exception {
        Client c = new Client();
        c.say(StompCommand.SEND, null, "destination", "/nonsense/x");
        String why = c.await(StompCommand.ERROR).getMessage();
        Features.demand(why.contains("/nonsense/x"), "it says " + why);
    }

    /** reconnect: the client is told by an ERROR, and connects again. */
    static void reconnect() throws Exception {
        Relay app = new Relay("_CUT", 0);
        Client c = app.new Client();
        c.send("/queue/reconnect", "kept");
        c.subscribe("/topic/cut");
        c.say(StompCommand.SEND, "cut-here".getBytes("UTF-8"), "destination", "/topic/cut");
        c.await(StompCommand.ERROR);
        app.left("/queue/reconnect", "kept");
        app.handler.stop();
    }
}
