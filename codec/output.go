package codec

import "io"

// Output is where a Writer writes its file: it counts the bytes that W took, and
// makes an error of a short write that comes without one. One goroutine uses it
// at a time.
type Output struct {
	W    io.Writer
	Size int64 // bytes
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.W.Write(b)
	o.Size += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}
