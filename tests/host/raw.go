package host

import (
	"bufio"
	"fmt"
	"os"
)

// Chunk is one that a test made itself, for Options.Raw.
type Chunk struct {
	Tag     string
	Data    []byte // msgpack, or what is to be taken for it
	First   uint64 // the id of its first record, for a Ledger
	Records uint64
}

// WriteRaw writes chunks to a new file that a host sends in their order. A tag
// has no newline.
func WriteRaw(path string, chunks []Chunk) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriter(file)
	for _, c := range chunks {
		fmt.Fprintf(w, "%d %d %d %s\n", c.First, c.Records, len(c.Data), c.Tag)
		w.Write(c.Data) // the error is Flush's too
	}
	return w.Flush()
}
