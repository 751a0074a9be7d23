# What the library warns of is what is tried here.
$stderr = File.open(File::NULL, "w")
require "stomp"
require "timeout"

$stdout.sync = true

# Session is a connection whose messages and receipts are read as they are wanted.
class Session
  attr_reader :conn

  def initialize(version: "1.2", beat: 0, suffix: "", headers: {}, reliable: false)
    headers = { "accept-version" => version, "host" => "localhost", "heart-beat" => "#{beat},#{beat}" }.merge(headers)
    @conn = Stomp::Connection.new(
      hosts: [{ host: ENV.fetch("HOST"), port: ENV.fetch("STOMP#{suffix}").to_i }],
      reliable: reliable, connect_headers: headers, max_hbread_fails: 2, initial_reconnect_delay: 0.1
    )
    raise @conn.connection_frame.headers["message"] if @conn.connection_frame.command != "CONNECTED"

    @waiting = []
    @serial = 0
  end

  def version = @conn.protocol

  # receive takes the next frame of a kind, and keeps those of other kinds.
  def receive(command)
    if (kept = @waiting.find { |frame| frame.command == command })
      @waiting.delete(kept)
      return kept
    end
    Timeout.timeout(8, RuntimeError, "no #{command} came") do
      loop do
        frame = @conn.receive
        raise "the connection ended" if frame.nil?
        return frame if frame.command == command
        raise frame.headers["message"] if frame.command == "ERROR"

        @waiting << frame
      end
    end
  end

  def next(body)
    frame = receive("MESSAGE")
    demand(frame.body.b == body.b, "received #{frame.body.b.inspect}, not #{body}")
    frame
  end

  def confirmed
    @serial += 1
    name = "r#{@serial}"
    yield({ "receipt" => name })
    demand(receive("RECEIPT").headers["receipt-id"] == name, "a wrong receipt came")
  end

  def send(destination, body, headers = {})
    confirmed { |receipt| @conn.publish(destination, body, headers.merge(receipt)) }
  end

  def subscribe(destination, headers = {}, id = "1")
    confirmed { |receipt| @conn.subscribe(destination, { "id" => id }.merge(headers, receipt)) }
  end

  def id(frame) = frame.headers[version == "1.2" ? "ack" : "message-id"]

  def handle(what, frame, headers = {})
    headers = headers.merge("subscription" => frame.headers["subscription"]) if version == "1.1"
    @conn.public_send(what, id(frame), headers)
  end

  def close = @conn.disconnect("receipt" => "bye")
end

def demand(is, what)
  raise what unless is
end

def speaks(version)
  s = Session.new(version: version)
  demand(s.version == version, "connected with #{s.version}")
  s.subscribe("/queue/v#{version}", "ack" => "client")
  s.send("/queue/v#{version}", "x")
  s.handle(:ack, s.next("x"))
  s.close
end

def acknowledged(mode, acknowledge, left)
  s = Session.new
  %w[1 2 3].each { |body| s.send("/queue/#{mode}", body) }
  s.subscribe("/queue/#{mode}", "ack" => mode)
  frames = %w[1 2 3].map { |body| s.next(body) }
  s.handle(:ack, frames[1]) if acknowledge
  s.close
  s = Session.new
  s.subscribe("/queue/#{mode}")
  left.each { |body| s.next(body) }
  s.send("/queue/#{mode}", "end")
  s.next("end")
  s.close
end

def reader
  s = Session.new(headers: { "client-id" => "reader" })
  s.subscribe("/topic/durable", { "durable" => "true" }, "news")
  s
end

attempts = {
  "1.0" => -> { speaks("1.0") },
  "1.1" => -> { speaks("1.1") },
  "1.2" => -> { speaks("1.2") },
  "send" => lambda {
    s = Session.new
    s.subscribe("/queue/send")
    s.send("/queue/send", "Grüße, 世界", "kind" => "a greeting: 1")
    demand(s.next("Grüße, 世界").headers["kind"] == "a greeting: 1", "its header is lost")
    s.close
  },
  "auto" => -> { acknowledged("auto", false, []) },
  "client" => -> { acknowledged("client", true, ["3"]) },
  "individual" => -> { acknowledged("client-individual", true, %w[1 3]) },
  "nack" => lambda {
    s = Session.new
    s.subscribe("/queue/nack", "ack" => "client-individual")
    s.send("/queue/nack", "again")
    s.handle(:nack, s.next("again"))
    frame = s.next("again")
    demand(frame.headers["redelivered"] == "true", "it is not marked as redelivered")
    s.handle(:ack, frame)
    s.close
  },
  "commit" => lambda {
    s = Session.new
    s.send("/queue/in", "order")
    s.subscribe("/queue/in", { "ack" => "client-individual" }, "in")
    order = s.next("order")
    s.subscribe("/queue/commit", {}, "out")
    s.conn.begin("t")
    s.handle(:ack, order, "transaction" => "t")
    s.send("/queue/commit", "inside", "transaction" => "t")
    s.send("/queue/commit", "outside")
    s.next("outside")
    s.confirmed { |receipt| s.conn.commit("t", receipt) }
    s.next("inside")
    s.close
    s = Session.new
    s.subscribe("/queue/in")
    s.send("/queue/in", "end")
    s.next("end")
    s.close
  },
  "abort" => lambda {
    s = Session.new
    s.subscribe("/queue/abort")
    s.conn.begin("t")
    s.send("/queue/abort", "inside", "transaction" => "t")
    s.confirmed { |receipt| s.conn.abort("t", receipt) }
    s.send("/queue/abort", "outside")
    s.next("outside")
    s.close
  },
  "receipt" => lambda {
    s = Session.new
    s.send("/queue/receipt", "x")
    s.close
  },
  "beats" => lambda {
    s = Session.new(beat: 1000)
    sleep 3.5
    s.send("/queue/beats", "x")
    demand(s.conn.hb_received && s.conn.hb_sent, "heart-beats were missed")
    s.conn.disconnect
  },
  "missed" => lambda {
    s = Session.new(beat: 1000, suffix: "_SILENT")
    noticed = (1..50).any? do
      sleep 0.2
      !s.conn.hb_received
    end
    demand(noticed, "the silence was not noticed")
  },
  "selector" => lambda {
    s = Session.new
    s.subscribe("/topic/selector", "selector" => "n > 1 AND kind LIKE 'a%'")
    s.send("/topic/selector", "one", "n" => "1", "kind" => "ab")
    s.send("/topic/selector", "two", "n" => "2", "kind" => "ab")
    s.next("two")
    s.close
  },
  "durable" => lambda {
    reader.close
    s = Session.new
    s.send("/topic/durable", "while away")
    s.close
    s = reader
    s.next("while away")
    s.confirmed { |receipt| s.conn.unsubscribe("/topic/durable", { "id" => "news", "durable" => "true" }.merge(receipt)) }
    s.send("/topic/durable", "after the end")
    s.close
    s = reader
    s.send("/topic/durable", "anew")
    s.next("anew")
    s.close
  },
  "delay" => lambda {
    s = Session.new
    s.subscribe("/queue/delay")
    sent = Time.now
    s.send("/queue/delay", "later", "AMQ_SCHEDULED_DELAY" => "700")
    s.send("/queue/delay", "now")
    s.next("now")
    s.next("later")
    demand(Time.now - sent >= 0.7, "it came too early")
    s.close
  },
  "reply" => lambda {
    asks = Session.new
    answers = Session.new
    answers.subscribe("/queue/requests")
    asks.subscribe("/temp-queue/replies")
    asks.send("/queue/requests", "how much?", "reply-to" => "/temp-queue/replies", "correlation-id" => "7")
    headers = answers.next("how much?").headers
    answers.send(headers["reply-to"], "42", "correlation-id" => headers["correlation-id"])
    demand(asks.next("42").headers["correlation-id"] == "7", "it answers something else")
    asks.close
    answers.close
  },
  "binary" => lambda {
    s = Session.new
    s.subscribe("/queue/binary")
    octets = [0, 1, 10, 13, 0, 255, 128, 0].pack("C*")
    s.send("/queue/binary", octets, "content-type" => "application/octet-stream")
    s.next(octets)
    s.close
  },
  "error" => lambda {
    s = Session.new
    s.conn.publish("/nonsense/x", "x")
    frame = s.receive("ERROR")
    demand(frame.headers["message"].include?("/nonsense/x"), "it says #{frame.headers["message"]}")
    demand(s.conn.receive.nil?, "the connection goes on")
  },
  "reconnect" => lambda {
    s = Session.new(suffix: "_CUT", reliable: true)
    s.send("/queue/reconnect", "kept")
    s.subscribe("/topic/cut", {}, "cut")
    s.subscribe("/queue/reconnect", { "ack" => "client-individual" }, "kept")
    s.next("kept")
    s.conn.publish("/topic/cut", "cut-here")
    s.handle(:ack, s.next("kept")) # connects and subscribes again by itself
    s.close
  }
}

attempts.each do |name, attempt|
  Timeout.timeout(20, RuntimeError, "it took too long") { attempt.call }
  puts "pass #{name}"
rescue StandardError => e
  puts "fail #{name} #{e.class} #{e.message.tr("\n", " ")}"
end
exit!(0)
