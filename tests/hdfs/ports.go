package hdfs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// reservation is ports that are a cluster's for as long as it lives, whether a
// daemon listens on them or not. Test processes that run at the same time keep
// off each other's by locking a file for each, which ends with the process.
type reservation struct {
	ports []int
	locks []*os.File
}

// Ports are chosen from those below the range that the kernel hands out to
// outgoing connections: a daemon that is restarted gets its port back.
const (
	firstPort = 12000
	lastPort  = 32000
)

// reserve finds n ports on which nobody listens.
func reserve(n int) (*reservation, error) {
	base, err := buildDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(base, "ports")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("reserve ports: %w", err)
	}
	r := &reservation{}
	for range 100 * n {
		if len(r.ports) == n {
			return r, nil
		}
		if err := r.try(dir, firstPort+rand.IntN(lastPort-firstPort)); err != nil {
			return nil, errors.Join(err, r.release())
		}
	}
	return nil, errors.Join(fmt.Errorf("reserve ports: %d of %d found", len(r.ports), n), r.release())
}

// try adds a port if it is nobody's.
func (r *reservation) try(dir string, port int) error {
	lock, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("reserve ports: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return lock.Close() // another cluster's, or this one's
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return lock.Close() // somebody else's
	}
	r.ports, r.locks = append(r.ports, port), append(r.locks, lock)
	return l.Close()
}

// address is that of the i-th port.
func (r *reservation) address(i int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.ports[i]))
}

func (r *reservation) release() error {
	var errs []error
	for _, l := range r.locks {
		errs = append(errs, l.Close())
	}
	r.locks = nil
	return errors.Join(errs...)
}
