package conf

import "time"

// DeliverySettings say how much is done at a time, and how long things may take.
type DeliverySettings struct {
	Uploads      int
	FlushTimeout time.Duration
	ExitTimeout  time.Duration
}

func deliveryOptions() []Option {
	return inGroup("Delivery",
		Option{Key: KeyUploads, Default: "4", Help: "Uploads at a time."}.
			number(func(s *Settings) *int { return &s.Delivery.Uploads }, 1, 256),
		Option{Key: KeyFlushTimeout, Default: "3s", Help: "How long a flush waits for space below `state_limit` before Fluent Bit is told to retry. Keep it below Fluent Bit's `Grace`."}.
			duration(func(s *Settings) *time.Duration { return &s.Delivery.FlushTimeout }, time.Millisecond, time.Hour),
		Option{Key: KeyExitTimeout, Default: "15s", Help: "How long a stop may take to publish what is open; the next start finishes the rest. Keep it below the supervisor's kill."}.
			duration(func(s *Settings) *time.Duration { return &s.Delivery.ExitTimeout }, time.Millisecond, day),
	)
}

func (p *parsing) checkDelivery() {
	if d := p.settings.Delivery.FlushTimeout; d >= 5*time.Second {
		p.warn(KeyFlushTimeout, "a flush may wait %s, while Fluent Bit's Grace is 5s if it isn't set: raise Grace above it", formatDuration(d))
	}
}
