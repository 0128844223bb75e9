package journal

import (
	"fmt"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// Frame is something to remember. It is encoded when it is appended and takes
// effect on the state when it is synced.
type Frame interface {
	kind() Kind
	encode(b []byte) []byte
	// apply changes the state. loc is where the frame lies.
	apply(s *state, loc log.Location)
}

// decodeFrame decodes any frame but a snapshot.
func decodeFrame(k Kind, payload []byte) (Frame, error) {
	r := &reader{b: payload}
	var f Frame
	switch k {
	case KindChunk:
		c, _, err := decodeChunk(payload)
		if err != nil {
			return nil, err
		}
		return c, nil
	case KindDecoding:
		f = Decoding{r.seqs()}
	case KindVoid:
		f = Void{r.uint()}
	case KindLost:
		f = Lost{r.uint()}
	case KindRolled:
		f = decodeRolled(r)
	case KindAttempt:
		f = Attempted{r.uint(), r.string()}
	case KindUploaded:
		f = Uploaded{r.uint(), Attempt{Temp: r.string(), ID: r.string(), Length: r.int(), ModTime: r.time()}}
	case KindRenaming:
		f = Renaming{r.uint(), r.string(), r.uint()}
	case KindFinished:
		f = Finished{r.uint(), r.string(), r.string()}
	case KindAbandoned:
		f = Abandoned{r.string(), r.uint(), r.string()}
	case KindSeen:
		f = decodeSeen(r)
	case KindDirectory:
		f = &directoryFrame{r.dir()}
	case KindHeld:
		f = Held{r.uint(), r.string()}
	case KindResolved:
		f = Resolved{r.uint(), r.uint(), Resolution(r.uint8())}
	default:
		return nil, fmt.Errorf("%w: unknown %v", errPayload, k)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return f, nil
}
