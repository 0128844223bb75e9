package conf

import (
	"slices"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/rolling"
)

// RollingSettings say when a part is rolled.
type RollingSettings struct {
	Policy        string        // RollingDefault or RollingOnCheckpoint
	Size          int64         // 0 is off
	Interval      time.Duration // 0 is off
	Inactivity    time.Duration // 0 is off
	CheckInterval time.Duration
}

// The values of RollingSettings.Policy.
const (
	RollingDefault      = "default"
	RollingOnCheckpoint = "on_checkpoint"
)

func rollingOptions() []Option {
	return inGroup("Rolling",
		Option{Key: KeyRollingPolicy, Default: RollingDefault,
			Help: "When a part is finished: by the three limits below, or with every chunk, which makes many small files."}.
			choice(func(s *Settings) *string { return &s.Rolling.Policy }, RollingDefault, RollingOnCheckpoint),
		Option{Key: KeyRollSize, Default: "128M", Help: "Rolls a part that has this many encoded bytes. 0 is off."}.
			size(func(s *Settings) *int64 { return &s.Rolling.Size }, 0).where(rollsByLimit),
		Option{Key: KeyRollInterval, Default: "15m", Help: "Rolls a part this long after its first record, or up to a tenth earlier, so that many agents don't roll at one moment. 0 is off."}.
			duration(func(s *Settings) *time.Duration { return &s.Rolling.Interval }, 0, century).where(rollsByLimit),
		Option{Key: KeyRollInactivity, Default: "5m", Help: "Rolls a part this long after its last record, or up to a tenth earlier. 0 is off."}.
			duration(func(s *Settings) *time.Duration { return &s.Rolling.Inactivity }, 0, century).where(rollsByLimit),
		Option{Key: KeyBucketCheckInterval, Default: "1m", Help: "How often the two time limits are checked."}.
			duration(func(s *Settings) *time.Duration { return &s.Rolling.CheckInterval }, 10*time.Millisecond, day),
	)
}

func rollsByLimit(s *Settings) bool { return s.Rolling.Policy == RollingDefault }

func (p *parsing) checkRolling() {
	s := &p.settings
	if p.failed[KeyRollingPolicy] {
		return
	}
	limits := []string{KeyRollSize, KeyRollInterval, KeyRollInactivity}
	if s.Rolling.Policy == RollingOnCheckpoint {
		for _, key := range limits {
			if p.has(key) {
				p.noEffect(key, KeyRollingPolicy, s.Rolling.Policy, RollingDefault)
			}
		}
		return
	}
	if slices.ContainsFunc(limits, func(key string) bool { return p.failed[key] }) {
		return
	}
	if s.Rolling.Size == 0 && s.Rolling.Interval == 0 && s.Rolling.Inactivity == 0 {
		p.wrong(KeyRollingPolicy, "%s are all 0, so no part would ever be finished; set one of them", strings.Join(limits, ", "))
	}
	if s.Rolling.Interval == 0 && s.Rolling.Inactivity == 0 {
		p.warn(KeyRollInterval, "with %s off too, a bucket that gets no more records is only finished when Fluent Bit stops", KeyRollInactivity)
	}
	for _, d := range []struct {
		key string
		d   time.Duration
	}{{KeyRollInterval, s.Rolling.Interval}, {KeyRollInactivity, s.Rolling.Inactivity}} {
		if p.has(d.key) && d.d > 0 && d.d < s.Rolling.CheckInterval {
			p.warn(d.key, "it is checked every %s only; lower %s", formatDuration(s.Rolling.CheckInterval), KeyBucketCheckInterval)
		}
	}
}

// NewPolicy makes the configured rolling policy.
func (s *Settings) NewPolicy() rolling.Policy {
	if s.Rolling.Policy == RollingOnCheckpoint {
		return rolling.OnCheckpoint{}
	}
	return rolling.Default{Size: s.Rolling.Size, Interval: s.Rolling.Interval, Inactivity: s.Rolling.Inactivity}
}
