require 'stomp'

host, port = ARGV
client = Stomp::Client.new(hosts: [{ host: host, port: port.to_i }], reliable: false,
                           connect_headers: { 'accept-version' => '1.2', 'host' => host })

# EXAMPLE

confirmed = Queue.new
client.publish('/topic/nobody', '') { |receipt| confirmed << receipt }
Thread.new { sleep 20; confirmed << nil }
exit 1 unless confirmed.pop
client.close
