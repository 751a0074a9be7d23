require 'json'
require 'stomp'

host, port, destination, count = ARGV
client = Stomp::Client.new(hosts: [{ host: host, port: port.to_i }], reliable: false,
                           connect_headers: { 'accept-version' => '1.2', 'host' => host })
messages = Queue.new
client.subscribe(destination, 'id' => '1', 'ack' => 'client-individual') { |message| messages << message }
Thread.new { sleep 20; messages << nil }
count.to_i.times do
  message = messages.pop or exit 1
  puts JSON.generate('body' => message.body, 'headers' => message.headers)
  client.acknowledge(message)
end
client.close
