package hadoop

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// decoder reads XML in the encoding that its declaration names by IANA's name,
// or in UTF-16 by its byte order mark. Without either it is UTF-8.
func decoder(in io.Reader) (*xml.Decoder, error) {
	b := bufio.NewReader(in)
	mark, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	var source io.Reader = b
	decoded := bytes.Equal(mark, []byte{0xfe, 0xff}) || bytes.Equal(mark, []byte{0xff, 0xfe})
	if decoded {
		source = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Reader(b)
	}
	d := xml.NewDecoder(source)
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if decoded && strings.HasPrefix(strings.ToLower(charset), "utf-16") {
			return in, nil
		}
		encoding, err := ianaindex.IANA.Encoding(charset)
		if err != nil || encoding == nil {
			return nil, fmt.Errorf("encoding %q isn't supported: write it in UTF-8", charset)
		}
		return encoding.NewDecoder().Reader(in), nil
	}
	return d, nil
}
