package schedule_test

import (
	"testing"

	"footfall/schedule"
)

// precedence is the order in which headers count, as it is documented.
var precedence = []string{
	"delay", "deliver-at", "deliver-schedule",
	"AMQ_SCHEDULED_DELAY", "AMQ_SCHEDULED_PERIOD", "AMQ_SCHEDULED_REPEAT", "AMQ_SCHEDULED_CRON",
	"AMQ_SCHEDULED_TIME", "_AMQ_SCHED_DELIVERY", "JMS_JBOSS_SCHEDULED_DELIVERY", "JMS_OracleDelay", "JMSXRcvTimestamp",
	"JMS_BEA_TimeToDeliver", "JMS_BEA_DeliveryTime", "JMSDeliveryTime", "JMSDeliveryDelay", "x-delay", "DELIVERY_TIME",
	"scheduled-id", "schedule-zone", "expires", "ttl", "expiration", "x-message-ttl",
}

func TestHeadersComeInTheOrderInWhichTheyCount(t *testing.T) {
	all := schedule.Headers()
	if len(all) != len(precedence) {
		t.Fatalf("expected %d headers; saw %d", len(precedence), len(all))
	}
	for i, h := range all {
		d := h.Dialect()
		if h.String() != precedence[i] || d.Name != precedence[i] || d.Form == 0 || d.Origin == "" {
			t.Errorf("header %d: expected %s; saw %v %+v", i, precedence[i], h, d)
		}
	}
}

func TestLookupFindsAllHeadersAndNoOther(t *testing.T) {
	for i, name := range precedence {
		if got, ok := schedule.Lookup([]byte(name)); !ok || got != schedule.Header(i) {
			t.Errorf("%s: saw %v, %t", name, got, ok)
		}
		for _, other := range []string{name + "x", name[:len(name)-1], " " + name, swapCase(name)} {
			if got, ok := schedule.Lookup([]byte(other)); ok {
				t.Errorf("%q: saw %v", other, got)
			}
		}
	}
}

// swapCase changes the case of the last letter.
func swapCase(name string) string {
	b := []byte(name)
	b[len(b)-1] ^= 0x20
	return string(b)
}

func TestRequestsAreTheHeadersThatDelay(t *testing.T) {
	for _, h := range schedule.Headers() {
		passedOn := h == schedule.HeaderExpires || h == schedule.HeaderTTL || h == schedule.HeaderExpiration || h == schedule.HeaderMessageTTL
		if h.IsRequest() == passedOn {
			t.Errorf("%v: %t", h, h.IsRequest())
		}
	}
}
