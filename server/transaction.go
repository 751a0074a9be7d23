package server

import (
	"footfall/broker"
	"footfall/frames"
)

// transaction is one that is open. Its SENDs wait here; what it settles the broker knows by its number.
type transaction struct {
	number  uint64
	sends   []broker.Op
	actions int
	bytes   int
}

// begin reads a BEGIN.
func (s *session) begin(f *frames.Frame) error {
	id, err := transactionID(f)
	if err != nil {
		return err
	}
	if s.txs[id] != nil {
		return refusal(kindTransaction, "BEGIN with transaction %s, which is open already", quote(id))
	}
	if limit := s.shared.options.MaxTransactions; len(s.txs) >= limit {
		return refusal(broker.KindLimit, "more than %d open transactions on a connection (limits.transactions)", limit)
	}
	if s.txs == nil {
		s.txs = make(map[string]*transaction)
	}
	s.lastTx++
	s.txs[id] = &transaction{number: s.lastTx}
	s.answer(f)
	return nil
}

// commit reads a COMMIT.
func (s *session) commit(f *frames.Frame) error {
	tx, err := s.end(f)
	if err != nil {
		return err
	}
	s.add(f, broker.Op{Kind: broker.OpCommit, Tx: tx.number, Sends: tx.sends})
	s.bytes += tx.bytes
	return nil
}

// abort reads an ABORT.
func (s *session) abort(f *frames.Frame) error {
	tx, err := s.end(f)
	if err != nil {
		return err
	}
	s.add(f, broker.Op{Kind: broker.OpAbort, Tx: tx.number})
	return nil
}

// end takes the transaction that a frame names away.
func (s *session) end(f *frames.Frame) (*transaction, error) {
	id, err := transactionID(f)
	if err != nil {
		return nil, err
	}
	tx, err := s.open(f.Command, id)
	delete(s.txs, id)
	return tx, err
}

func transactionID(f *frames.Frame) (string, error) {
	// STOMP 1.2 BEGIN, COMMIT, ABORT: transaction is required.
	raw, ok := f.Header.GetRaw("transaction")
	if !ok || len(raw) == 0 {
		return "", missing(f.Command, "transaction")
	}
	return f.Header.Decode(raw), nil
}

func (s *session) open(c frames.Command, id string) (*transaction, error) {
	tx := s.txs[id]
	if tx == nil {
		return nil, refusal(kindTransaction, "%s with transaction %s, which is not open", c, quote(id))
	}
	return tx, nil
}

// sendInTransaction keeps a SEND until COMMIT.
func (s *session) sendInTransaction(f *frames.Frame, id []byte, op broker.Op, bytes int) error {
	tx, err := s.open(f.Command, f.Header.Decode(id))
	if err != nil {
		return err
	}
	if err := s.count(tx, bytes); err != nil {
		return err
	}
	op.Tx = tx.number
	tx.sends = append(tx.sends, op)
	return nil
}

// settleInTransaction returns the number of the transaction that an ACK or NACK is in, 0 for none.
func (s *session) settleInTransaction(f *frames.Frame) (uint64, error) {
	raw, ok := f.Header.GetRaw("transaction")
	if !ok {
		return 0, nil
	}
	tx, err := s.open(f.Command, f.Header.Decode(raw))
	if err != nil {
		return 0, err
	}
	return tx.number, s.count(tx, 0)
}

// count adds an action to a transaction, within its limits.
func (s *session) count(tx *transaction, bytes int) error {
	tx.actions++
	tx.bytes += bytes
	o := &s.shared.options
	switch {
	case tx.actions > o.TransactionActions:
		return refusal(broker.KindLimit, "more than %d actions in a transaction (limits.transaction-actions)", o.TransactionActions)
	case tx.bytes > o.TransactionBytes:
		return refusal(broker.KindLimit, "more than %d octets in a transaction (limits.transaction-bytes)", o.TransactionBytes)
	}
	return nil
}
