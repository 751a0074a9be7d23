package server

import (
	"strconv"

	"footfall/broker"
	"footfall/frames"
)

// browserOptions reads what a SUBSCRIBE asks for that takes nothing, after ActiveMQ and Apollo, and in which header it wants the numbers of
// messages. They are headers of a browser only.
func (s *session) browserOptions(f *frames.Frame, op *broker.SubscribeOp) (seq string, err error) {
	on, err := boolHeader(f, "browser")
	if err != nil || !on {
		return "", err
	}
	if op.Durable != (broker.SubscriptionName{}) || op.Shared != (broker.SubscriptionName{}) {
		return "", refusal(kindHeader, "SUBSCRIBE with browser:true and the name of a subscription: browse its address, /dsub/NAME")
	}
	op.Browse = &broker.BrowseOp{}
	if end, ok := f.Header.Get("browser-end"); ok && end != "" {
		on, ok := parseBool(end)
		if !ok {
			return "", badBool(f.Command, "browser-end", end)
		}
		op.Browse.Follow = !on
	}
	if from, ok := f.Header.Get("from-seq"); ok && from != "" {
		n, err := strconv.ParseUint(from, 10, 64)
		switch {
		case from == "-1":
			op.Browse.Tail = true
		case err != nil:
			return "", badHeader(f.Command, "from-seq", from, "a number of a message is wanted, 0 or -1")
		}
		op.Browse.From = n
	}
	seq, _ = f.Header.Get("include-seq")
	switch {
	case len(seq) > maxID:
		return "", tooLong(f.Command, "include-seq", len(seq))
	case seq != "" && !passesOn(seq):
		return "", badHeader(f.Command, "include-seq", seq, "it is a header that the broker writes itself")
	}
	return seq, nil
}

// passesOn says whether a header of that name could be a sender's.
func passesOn(name string) bool {
	c := classify([]byte(name))
	return c == passedHeader
}
