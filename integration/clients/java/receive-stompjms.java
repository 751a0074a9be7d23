import java.util.Collections;
import java.util.StringJoiner;
import javax.jms.Connection;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.fusesource.stomp.jms.StompJmsConnectionFactory;

class Receive {
    public static void main(String[] args) throws Exception {
        StompJmsConnectionFactory factory = new StompJmsConnectionFactory();
        factory.setBrokerURI("tcp://" + args[0] + ":" + args[1]);
        Connection connection = factory.createConnection();
        connection.start();
        Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue(args[2].substring("/queue/".length())));
        for (int left = Integer.parseInt(args[3]); left > 0; left--) {
            Message message = consumer.receive(20_000);
            if (message == null) {
                System.err.println(left + " messages did not come");
                System.exit(1);
            }
            StringJoiner headers = new StringJoiner(",", "{", "}");
            for (Object name : Collections.list(message.getPropertyNames())) {
                headers.add(quoted((String) name) + ":" + quoted(message.getStringProperty((String) name)));
            }
            System.out.println("{\"body\":" + quoted(((TextMessage) message).getText()) + ",\"headers\":" + headers + "}");
            message.acknowledge();
        }
        connection.close();
        System.exit(0);
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
