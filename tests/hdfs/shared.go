package hdfs

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one cluster for all tests of a package, started by the first that
// asks for it. Tests that hurt it make it well again, and don't run beside
// others.
type Shared struct {
	Options Options

	once    sync.Once
	cluster *Cluster
	err     error
}

// Cluster returns the cluster, or fails the test.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	s.once.Do(func() { s.cluster, s.err = Start(context.Background(), s.Options) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

// Main runs a package's tests and stops the cluster after them.
func (s *Shared) Main(m *testing.M) (code int) {
	code = m.Run()
	if s.cluster == nil {
		return code
	}
	if err := s.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop HDFS:", err)
		return 1
	}
	return code
}
