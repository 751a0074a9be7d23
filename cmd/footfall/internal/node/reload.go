package node

import (
	"context"
	"errors"

	"footfall/admin"
	"footfall/broker"
)

// explain tells the admin server what counts for a destination.
func (n *Node) explain(a broker.Address) (list []admin.PolicyValue, err error) {
	settings, _, err := n.explains.Load().Explain(a.String())
	for _, s := range settings {
		list = append(list, admin.PolicyValue{Setting: s.Setting, Value: s.Value, Match: s.Match})
	}
	return list, err
}

// SetDestinations has the list of destinations of o count from now on, all of it at once. The other settings stay those of the start. An
// error leaves all as it was, but for that of ctx: then it may count yet.
func (n *Node) SetDestinations(ctx context.Context, o *Options) error {
	running := n.opt
	running.Destinations = o.Destinations
	_, policies, err := running.policies()
	if err != nil {
		return err
	}
	if !n.broker.SetPolicies(ctx, policies) {
		return errors.Join(errors.New("the broker's loop does not turn"), ctx.Err())
	}
	n.explains.Store(&running)
	return nil
}
