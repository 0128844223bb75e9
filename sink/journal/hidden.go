package journal

import (
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// hidden is what can't be read of a journal, and what that may have said. A frame
// whose header is sound is of a known kind. Of other bytes it is known how many
// there are, and so which frames they are too few for.
type hidden struct {
	all    bool // any number of frames of any kind may be missing
	frames []hiddenFrames
}

// hiddenFrames is a range of a segment in which no frame is sound.
type hiddenFrames struct {
	segment uint64
	log.BadFrame
	// left is how many of its bytes aren't explained by frames that were found
	// elsewhere.
	left int64
}

func (h *hidden) add(segment uint64, b log.BadFrame) {
	h.frames = append(h.frames, hiddenFrames{segment, b, b.End - b.Offset})
}

// none reports whether everything that was ever said is known.
func (h *hidden) none() bool { return !h.all && len(h.frames) == 0 }

// may reports whether all of the frames may be among what is hidden.
func (h *hidden) may(frames ...Frame) bool {
	if h.all {
		return true
	}
	unknown := int64(0)
	var kinds []Kind
	for _, b := range h.frames {
		switch {
		case b.left == 0:
		case b.Kind == 0:
			unknown += b.left
		default:
			kinds = append(kinds, Kind(b.Kind))
		}
	}
	for _, f := range frames {
		if i := slices.Index(kinds, f.kind()); i >= 0 {
			kinds = slices.Delete(kinds, i, i+1)
		} else {
			unknown -= log.FrameSize(len(f.encode(nil)))
		}
	}
	return unknown >= 0
}

// found says that a frame was found elsewhere: the range that it explains hides as
// much less.
func (h *hidden) found(f Frame) {
	size := log.FrameSize(len(f.encode(nil)))
	best := -1
	for i, b := range h.frames {
		switch {
		case b.Kind == log.Kind(f.kind()) && b.left == size, b.Kind == 0 && b.left == size:
			h.frames[i].left = 0
			return
		case b.Kind == 0 && b.left > size && best < 0:
			best = i
		}
	}
	if best >= 0 {
		h.frames[best].left -= size
	}
}

// rolledBehind reports whether a rolled frame may be hidden behind the place at
// which a chunk was accepted, anywhere if that isn't known.
func (h *hidden) rolledBehind(at log.Location, known bool) bool {
	if h.all {
		return true
	}
	least := log.FrameSize(len(Rolled{Shares: []Share{{}}}.encode(nil)))
	for _, b := range h.frames {
		mayBe := Kind(b.Kind) == KindRolled && b.left > 0 || b.Kind == 0 && b.left >= least
		if mayBe && (!known || b.segment > at.Segment || b.segment == at.Segment && b.End > at.Offset) {
			return true
		}
	}
	return false
}

// renamed is the frames that lie between a pending part and its first rename, as
// far as they aren't known.
func renamed(p *Part) []Frame {
	final := p.final()
	frames := []Frame{Renaming{p.Number, final, p.Number}}
	if _, ok := p.Uploaded(); ok {
		return frames
	}
	temp := final + ".inprogress."
	frames = append(frames, Uploaded{p.Number, Attempt{Temp: temp}})
	if len(p.Attempts) == 0 {
		frames = append(frames, Attempted{p.Number, temp})
	}
	return frames
}
