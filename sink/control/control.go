// Package control is how an operator's tool talks to a running sink: a Unix
// socket in the state directory, which only the directory's owner can reach,
// and HTTP with JSON on it.
//
//	GET  /status   the sink's Status
//	POST /resolve  a Request; 204, or 409 with why not
//
// It never decides anything, and a sink works without it.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// SocketName is the socket's name in the state directory.
const SocketName = "control.sock"

// Connections is how many operators are answered at a time; others wait. Each
// takes a file of the process, see sink.OtherFiles.
const Connections = 4

// Resolutions are the words for what an operator can decide, by what is held.
var (
	partWords  = map[string]journal.Resolution{"publish": journal.PublishAgain, "done": journal.AcceptDone}
	chunkWords = map[string]journal.Resolution{"decode": journal.DecodeAgain, "dead-letter": journal.DeadLetter}
)

// Request says how to end what is held: a part with "publish" or "done", a
// chunk with "decode" or "dead-letter".
type Request struct {
	Part  uint64 `json:"part,omitempty"`
	Chunk uint64 `json:"chunk,omitempty"`
	How   string `json:"how"`
}

// Frame is the request as the journal takes it.
func (r Request) Frame() (journal.Resolved, error) {
	words, of := partWords, "part"
	if r.Chunk != 0 {
		words, of = chunkWords, "chunk"
	}
	how, ok := words[r.How]
	if !ok || (r.Part != 0) == (r.Chunk != 0) {
		return journal.Resolved{}, fmt.Errorf("%q doesn't end a held %s: a part takes publish or done, a chunk decode or dead-letter", r.How, of)
	}
	return journal.Resolved{Part: r.Part, Seq: r.Chunk, How: how}, nil
}

// Server answers on the socket of one state directory.
type Server struct {
	http *http.Server
	done chan struct{}
}

// Serve begins to answer for s. It replaces a socket that a killed process
// left: the caller holds the state directory's lock. Close stops it.
func Serve(stateDir string, s *sink.Sink) (*Server, error) {
	dir, err := os.Open(stateDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := os.Remove(filepath.Join(stateDir, SocketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", address(dir))
	if err != nil {
		return nil, fmt.Errorf("listen on %s in %s: %w", SocketName, stateDir, err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // its address means nothing once dir is closed
	// Whoever may write to the socket may resolve. The directory keeps others
	// out unless somebody made it himself.
	if err := os.Chmod(filepath.Join(stateDir, SocketName), 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l = netutil.LimitListener(l, Connections)
	srv := &Server{
		http: &http.Server{Handler: handler(s), ReadTimeout: time.Minute, WriteTimeout: time.Minute},
		done: make(chan struct{}),
	}
	go func() { // ends with Close
		defer close(srv.done)
		_ = srv.http.Serve(l)
	}()
	return srv, nil
}

// address names the socket by the open directory, since a socket's path is
// bound to 107 bytes and a state directory's isn't.
func address(dir *os.File) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), SocketName)
}

// Close ends the answers under way and waits for them.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

func handler(s *sink.Sink) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Status(ctx))
	})
	mux.HandleFunc("POST /resolve", func(w http.ResponseWriter, r *http.Request) {
		var req Request
		err := json.NewDecoder(io.LimitReader(r.Body, 4096)).Decode(&req)
		if err == nil {
			var f journal.Resolved
			if f, err = req.Frame(); err == nil {
				err = s.Resolve(f)
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// ErrNotRunning says that no agent answers for the state directory.
var ErrNotRunning = errors.New("no agent has this state directory")

// Client asks the agent that has a state directory.
type Client struct{ stateDir string }

// Dial returns a client. Whether an agent runs is seen at its first call.
func Dial(stateDir string) *Client { return &Client{stateDir} }

// Status asks for the sink's status.
func (c *Client) Status(ctx context.Context) (st sink.Status, err error) {
	body, err := c.call(ctx, http.MethodGet, "status", nil)
	if err != nil {
		return st, err
	}
	if err := json.Unmarshal(body, &st); err != nil {
		return st, fmt.Errorf("status of %s: %w", c.stateDir, err)
	}
	return st, nil
}

// Resolve asks the agent to end what is held.
func (c *Client) Resolve(ctx context.Context, r Request) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = c.call(ctx, http.MethodPost, "resolve", body)
	return err
}

func (c *Client) call(ctx context.Context, method, what string, body []byte) ([]byte, error) {
	dir, err := os.Open(c.stateDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", address(dir))
	}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, "http://out-hdfs/"+what, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, op.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the agent for %s: %w", what, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the agent for %s: %w", what, err)
	}
	if resp.StatusCode >= 300 {
		return nil, errors.New(strings.TrimSpace(string(answer)))
	}
	return answer, nil
}
