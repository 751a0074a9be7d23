import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.QueueBrowser;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TextMessage;
import javax.jms.Topic;
import org.fusesource.stomp.jms.StompJmsConnectionFactory;
import org.fusesource.stomp.jms.StompJmsDestination;

class Jms {
    public static void main(String[] args) throws Exception {
        Features features = new Features();
        features.lacks("1.0", "it speaks 1.1 only");
        features.attempt("1.1", Jms::send);
        features.lacks("1.2", "it speaks 1.1 only");
        features.attempt("send", Jms::send);
        features.attempt("auto", () -> acknowledged("auto", Session.AUTO_ACKNOWLEDGE, null, -1));
        features.attempt("client", () -> acknowledged("client", Session.CLIENT_ACKNOWLEDGE, null, 1, "3"));
        features.attempt("individual", () -> acknowledged("individual", Session.CLIENT_ACKNOWLEDGE, Map.of("ack", "client-individual"), 1, "1", "3"));
        features.lacks("nack", "JMS has none; a session that is rolled back or closed gives back what it had");
        features.attempt("commit", Jms::commit);
        features.attempt("abort", Jms::rollback);
        features.attempt("receipt", Jms::receipt);
        features.lacks("beats", "it has no heart-beats");
        features.lacks("missed", "it has no heart-beats");
        features.attempt("selector", Jms::selector);
        features.attempt("durable", Jms::durable);
        features.attempt("delay", Jms::delay);
        features.attempt("reply", Jms::reply);
        features.attempt("binary", Jms::binary);
        features.attempt("error", Jms::error);
        features.attempt("reconnect", Jms::reconnect);
        System.exit(0);
    }

    static Connection connect(String suffix, String client) throws JMSException {
        StompJmsConnectionFactory factory = new StompJmsConnectionFactory();
        factory.setBrokerURI("tcp://" + Features.host() + ":" + Features.port("STOMP" + suffix));
        Connection connection = factory.createConnection();
        if (client != null) {
            connection.setClientID(client);
        }
        connection.start();
        return connection;
    }

    static Connection connect() throws JMSException {
        return connect("", null);
    }

    static void put(String queue, String... bodies) throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer producer = session.createProducer(session.createQueue(queue));
        for (String body : bodies) {
            producer.send(session.createTextMessage(body));
        }
        connection.close();
    }

    static Message next(MessageConsumer consumer, String body) throws JMSException {
        Message message = consumer.receive(8000);
        Features.demand(message != null, "no message came, instead of " + body);
        if (body != null) {
            String text = ((TextMessage) message).getText();
            Features.demand(text.equals(body), "received " + text + ", not " + body);
        }
        return message;
    }

    /** left demands that these are what is left in a queue, in that order. */
    static void left(String queue, String... bodies) throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue(queue));
        for (String body : bodies) {
            next(consumer, body);
        }
        put(queue, "end");
        next(consumer, "end");
        connection.close();
    }

    /** send tries the types of messages, headers, properties, priority, expiry and a browser. */
    static void send() throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = session.createQueue("send");
        MessageProducer producer = session.createProducer(queue);
        TextMessage text = session.createTextMessage("Grüße, 世界");
        text.setStringProperty("kind", "a greeting: 1");
        text.setIntProperty("number", 7);
        text.setJMSCorrelationID("ID:other-1");
        text.setJMSType("greeting");
        producer.send(text);
        MapMessage map = session.createMapMessage();
        map.setLong("amount", 12L);
        producer.send(map);
        producer.send(session.createObjectMessage("an object"));
        producer.send(session.createTextMessage("expires"), DeliveryMode.PERSISTENT, 4, 1);
        producer.send(session.createTextMessage("urgent"), DeliveryMode.PERSISTENT, 9, 0);
        QueueBrowser browser = session.createBrowser(queue, "kind LIKE 'a%'");
        Features.demand(Collections.list(browser.getEnumeration()).size() == 1, "the browser does not see one message");
        browser.close();
        MessageConsumer consumer = session.createConsumer(queue);
        next(consumer, "urgent");
        Message first = next(consumer, "Grüße, 世界");
        Features.demand(first.getStringProperty("kind").equals("a greeting: 1") && first.getIntProperty("number") == 7, "the properties are lost");
        Features.demand(first.getJMSMessageID().equals(text.getJMSMessageID()), "the id is " + first.getJMSMessageID());
        Features.demand(first.getJMSCorrelationID().equals("ID:other-1") && first.getJMSType().equals("greeting"), "the headers are lost");
        Features.demand(!first.getJMSRedelivered() && first.getJMSDestination().equals(queue), "it is marked as redelivered, or of another queue");
        Features.demand(((MapMessage) next(consumer, null)).getLong("amount") == 12, "the map is lost");
        next(consumer, null);
        connection.close();
        left("send");
    }

    static void acknowledged(String queue, int mode, Map<String, String> headers, int acknowledge, String... left) throws JMSException {
        put(queue, "1", "2", "3");
        Connection connection = connect();
        Session session = connection.createSession(false, mode);
        Queue destination = session.createQueue(queue);
        if (headers != null) {
            ((StompJmsDestination) destination).setSubscribeHeaders(headers);
        }
        MessageConsumer consumer = session.createConsumer(destination);
        Message[] messages = {next(consumer, "1"), next(consumer, "2"), next(consumer, "3")};
        if (acknowledge >= 0) {
            messages[acknowledge].acknowledge();
        }
        connection.close();
        left(queue, left);
    }

    static void commit() throws JMSException {
        put("in", "order");
        Connection connection = connect();
        Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageConsumer in = session.createConsumer(session.createQueue("in"));
        next(in, "order");
        session.createProducer(session.createQueue("commit")).send(session.createTextMessage("inside"));
        put("commit", "outside");
        session.commit();
        connection.close();
        left("commit", "outside", "inside");
        left("in");
    }

    static void rollback() throws JMSException {
        put("abort-in", "order");
        Connection connection = connect();
        Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageConsumer in = session.createConsumer(session.createQueue("abort-in"));
        next(in, "order");
        session.createProducer(session.createQueue("abort")).send(session.createTextMessage("inside"));
        session.rollback();
        Features.demand(next(in, "order").getJMSRedelivered(), "it is not marked as redelivered");
        session.commit();
        connection.close();
        left("abort");
        left("abort-in");
    }

    /** receipt: a persistent message is on disk when send returns, so that another connection finds it. */
    static void receipt() throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        session.createProducer(session.createQueue("receipt")).send(session.createTextMessage("kept"));
        left("receipt", "kept");
        connection.close();
    }

    static void selector() throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = session.createQueue("selector");
        MessageConsumer consumer = session.createConsumer(queue, "n > 1 AND kind LIKE 'a%' AND JMSPriority = 4");
        MessageProducer producer = session.createProducer(queue);
        for (int n = 1; n <= 2; n++) {
            TextMessage message = session.createTextMessage("number " + n);
            message.setIntProperty("n", n);
            message.setStringProperty("kind", "ab");
            producer.send(message);
        }
        next(consumer, "number 2");
        connection.close();
    }

    static void durable() throws JMSException {
        for (String body : new String[] {null, "while away"}) {
            Connection connection = connect("", "reader");
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic topic = session.createTopic("durable");
            MessageConsumer consumer = session.createDurableSubscriber(topic, "news");
            if (body != null) {
                next(consumer, body);
                consumer.close();
                session.unsubscribe("news");
            }
            connection.close();
            connection = connect();
            session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            session.createProducer(topic).send(session.createTextMessage(body == null ? "while away" : "after the end"));
            connection.close();
        }
        Connection connection = connect("", "reader");
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Topic topic = session.createTopic("durable");
        MessageConsumer consumer = session.createDurableSubscriber(topic, "news");
        session.createProducer(topic).send(session.createTextMessage("anew"));
        next(consumer, "anew");
        connection.close();
    }

    static void delay() throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = session.createQueue("delay");
        MessageProducer producer = session.createProducer(queue);
        long sent = System.nanoTime();
        TextMessage later = session.createTextMessage("later");
        later.setStringProperty("AMQ_SCHEDULED_DELAY", "700");
        producer.send(later);
        producer.send(session.createTextMessage("now"));
        MessageConsumer consumer = session.createConsumer(queue);
        next(consumer, "now");
        next(consumer, "later");
        Features.demand(System.nanoTime() - sent >= 700_000_000L, "it came too early");
        connection.close();
    }

    static void reply() throws JMSException {
        Connection asks = connect();
        Connection answers = connect();
        Session asking = asks.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Session answering = answers.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageConsumer requests = answering.createConsumer(answering.createQueue("requests"));
        TemporaryQueue temporary = asking.createTemporaryQueue();
        MessageConsumer replies = asking.createConsumer(temporary);
        TextMessage question = asking.createTextMessage("how much?");
        question.setJMSReplyTo(temporary);
        asking.createProducer(asking.createQueue("requests")).send(question);
        Message request = next(requests, "how much?");
        TextMessage answer = answering.createTextMessage("42");
        answer.setJMSCorrelationID(request.getJMSMessageID());
        answering.createProducer(request.getJMSReplyTo()).send(answer);
        Features.demand(next(replies, "42").getJMSCorrelationID().equals(question.getJMSMessageID()), "it answers something else");
        asks.close();
        answers.close();
    }

    static void binary() throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = session.createQueue("binary");
        byte[] octets = {0, 1, 10, 13, 0, -1, -128, 0};
        BytesMessage message = session.createBytesMessage();
        message.writeBytes(octets);
        session.createProducer(queue).send(message);
        BytesMessage got = (BytesMessage) next(session.createConsumer(queue), null);
        byte[] found = new byte[(int) got.getBodyLength()];
        got.readBytes(found);
        Features.demand(Arrays.equals(found, octets), "received " + Arrays.toString(found));
        connection.close();
    }

    static void error() throws JMSException {
        Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        try {
            session.createConsumer(session.createQueue("error"), "n >").receive(8000);
            throw new IllegalStateException("the selector was taken");
        } catch (JMSException problem) {
            Features.demand(String.valueOf(problem.getMessage()).contains("selector"), "it says " + problem.getMessage());
        }
    }

    /** reconnect: the session fails, and the program connects again. */
    static void reconnect() throws JMSException {
        put("reconnect", "kept");
        Connection connection = connect("_CUT", null);
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Topic topic = session.createTopic("cut");
        session.createConsumer(topic);
        session.createProducer(topic).send(session.createTextMessage("cut-here"));
        try {
            for (int i = 0; i < 100; i++) {
                session.createConsumer(topic).close();
            }
            throw new IllegalStateException("the loss was not noticed");
        } catch (JMSException lost) {
            left("reconnect", "kept");
        }
    }
}
