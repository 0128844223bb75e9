package memory

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// TestWorkStaysWithinItsLimit: what all jobs take together is never more when one
// enters, unless it is alone; each gets in at last; and nothing is left at the end.
func TestWorkStaysWithinItsLimit(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			const limit = 1000
			w := NewWork(limit)
			random := rand.New(rand.NewPCG(seed, 0))
			done := make(chan struct{})
			for range 100 {
				size, left, takes := random.Int64N(1500), random.Int64N(1000), time.Duration(random.IntN(100))*time.Millisecond
				go func() {
					r := w.Enter(t.Context(), size)
					w.mu.Lock()
					if w.taken > limit && w.taken != size {
						t.Errorf("with one of %d there are %d bytes", size, w.taken)
					}
					w.mu.Unlock()
					time.Sleep(takes)
					r.Set(min(left, size))
					time.Sleep(takes)
					r.Leave()
					done <- struct{}{}
				}()
			}
			for range 100 {
				<-done
			}
			if w.Taken() != 0 {
				t.Errorf("%d bytes are left", w.Taken())
			}
		})
	}
}

// TestWorkAdmission is a table of who gets in beside whom.
func TestWorkAdmission(t *testing.T) {
	for _, row := range []struct {
		name    string
		before  []int64
		n       int64
		admits  bool
		becomes int64 // what the first of those before shrinks to
		then    bool
	}{
		{"alone, however large", nil, 5000, true, 0, true},
		{"to the last byte", []int64{400, 300}, 300, true, 400, true},
		{"a byte too many", []int64{400, 300}, 301, false, 399, true},
		{"shrinks too little", []int64{400, 300}, 400, false, 301, false},
		{"large, and beside nothing", []int64{1}, 5000, false, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := NewWork(1000)
				var rooms []*Room
				for _, n := range row.before {
					rooms = append(rooms, w.Enter(t.Context(), n))
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var got *Room
				ended := false
				go func() { got = w.Enter(ctx, row.n); ended = true }()
				synctest.Wait()
				if (got != nil) != row.admits {
					t.Fatalf("admitted %v", got != nil)
				}
				if len(rooms) > 0 {
					rooms[0].Set(row.becomes)
				}
				synctest.Wait()
				if (got != nil) != row.then {
					t.Errorf("then admitted %v", got != nil)
				}
				stop()
				synctest.Wait()
				if !ended {
					t.Error("it waits although ctx ended")
				}
			})
		})
	}
	var none *Room
	none.Set(5)
	none.Leave()
}
