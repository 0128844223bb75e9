package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/conf"
)

// encoding makes files of chunks that nobody keeps.
type encoding interface {
	add(chunk []byte) error
	// end ends the file and answers with its size; the next add begins another.
	end() (size int64, err error)
}

const (
	// encodeFor is how many seconds of CPU time a row is measured for.
	encodeFor = 0.7
	// fileOf is how many bytes of chunks a file has: about roll_size where the
	// format compresses well.
	fileOf = 512 << 20
	tag    = "bench"
)

func (j job) encoding() (encoding, error) {
	switch j.What {
	case "encode", rivalParquetGo:
		return newOwn(j)
	case "pqarrow":
		return newArrow(j.Compression)
	case "goavro":
		return newGoavro(j.Compression)
	}
	return &fluentBitGo{}, nil
}

// encode measures an encoding on one core.
func encode(j job) (r result, err error) {
	runtime.GOMAXPROCS(1)
	chunks, err := j.read()
	if err != nil {
		return r, err
	}
	e, err := j.encoding()
	if err != nil {
		return r, err
	}
	if err := e.add(chunks[0]); err != nil { // buffers grow, a schema is learned
		return r, err
	}
	if _, err := e.end(); err != nil {
		return r, err
	}
	runtime.GC()
	before, inFile := cpu(), 0
	for n := 0; ; n++ {
		chunk := chunks[n%len(chunks)]
		if err := e.add(chunk); err != nil {
			return r, err
		}
		r.Bytes += float64(len(chunk))
		inFile += len(chunk)
		r.add(before, cpu())
		if done := r.CPU >= encodeFor; done || inFile >= fileOf {
			size, err := e.end()
			if err != nil {
				return r, err
			}
			r.Out, inFile = r.Out+float64(size), 0
			if done {
				r.add(before, cpu())
				return r, nil
			}
		}
	}
}

func (j job) read() (chunks [][]byte, err error) {
	for _, name := range j.Files {
		chunk, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// format is the format of the job's configuration, or a rival's that stands in
// for it.
func (j job) format() (codec.Format, error) {
	if j.What == rivalParquetGo || j.Rival == rivalParquetGo {
		return newParquetGo(j.Compression, max(j.Buckets, 1))
	}
	values := map[string]string{
		conf.KeyPath: "file:///nowhere", conf.KeyStateDir: j.Work, conf.KeyFormat: j.Format, conf.KeyCompression: j.Compression,
		conf.KeyColumns: "date,log,stream,level,id,latency,ok,$kubernetes['pod_name'],$kubernetes['namespace_name'],$kubernetes['labels']",
	}
	return conf.OpenFormat(conf.Map(values), conf.Environment{Formats: conf.FormatNames(), Schemes: []string{"file"}, OpenSchema: schema.Open})
}

// discarded counts what it discards.
type discarded struct{ n int64 }

func (d *discarded) Write(b []byte) (int, error) {
	d.n += int64(len(b))
	return len(b), nil
}

// own encodes as the sink does: the events of a chunk as one bucket's share,
// ahead of the file where the format can, and then into it.
type own struct {
	format codec.Format
	ahead  codec.BlockEncoder // nil if the format encodes in the file only
	walk   walk
	block  []byte
	w      codec.Writer
	out    discarded
}

func newOwn(j job) (*own, error) {
	f, err := j.format()
	if err != nil {
		return nil, err
	}
	o := &own{format: f}
	if blocks, ok := f.(codec.BlockFormat); ok {
		o.ahead = blocks.NewBlockEncoder()
	}
	return o, nil
}

func (o *own) add(chunk []byte) (err error) {
	b := o.walk.batch(chunk)
	if o.w == nil {
		o.out = discarded{}
		if o.w, err = o.format.NewWriter(&o.out, codec.Meta{WriterID: tag}); err != nil {
			return err
		}
	}
	var rejects []codec.Reject
	if o.ahead != nil {
		o.block, rejects = o.ahead.Encode(o.block[:0], b)
		err = o.w.(codec.BlockWriter).WriteBlock(o.block, len(b.Events)-len(rejects))
	}
	if o.ahead == nil || errors.Is(err, codec.ErrOtherSchema) {
		rejects, err = o.w.Write(b)
	}
	if err == nil && len(rejects) > 0 {
		err = fmt.Errorf("a record was rejected: %s", rejects[0].Reason)
	}
	return err
}

func (o *own) end() (int64, error) {
	err := o.w.Close()
	o.w = nil
	return o.out.n, err
}

// walk makes a batch of a chunk's events, in memory that it keeps.
type walk struct {
	reader event.Reader
	events []event.Event
	all    event.Batch
}

func (w *walk) batch(chunk []byte) *event.Batch {
	if w.events == nil {
		w.events = make([]event.Event, recordsPerChunk)
	}
	w.all = event.Batch{Tag: tag, Events: w.all.Events[:0]}
	w.reader.Reset(chunk)
	for i := 0; i < len(w.events) && w.reader.Next(&w.events[i]); i++ {
		w.all.Events = append(w.all.Events, &w.events[i])
	}
	return &w.all
}

// openFiles keeps the job's buckets open under Parquet and gives each chunk to
// all of them, a bucket's share as large as if the chunk were spread over them.
func openFiles(j job) (r result, err error) {
	chunks, err := j.read()
	if err != nil {
		return r, err
	}
	f, err := j.format()
	if err != nil {
		return r, err
	}
	var events walk
	writers, held := make([]codec.Writer, j.Buckets), make([]int64, j.Buckets)
	outs := make([]groupsOf, j.Buckets)
	total := int64(0)
	const fill = 400 << 20 // bytes of chunks, more than the memory holds
	for n := 0; r.Bytes < fill; n++ {
		chunk := chunks[n%len(chunks)]
		all := events.batch(chunk).Events
		r.Bytes += float64(len(chunk))
		for i := range writers {
			if writers[i] == nil {
				if writers[i], err = f.NewWriter(&outs[i], codec.Meta{}); err != nil {
					return r, err
				}
			}
			k := (i + n) % j.Buckets // so that each bucket gets other records each time
			share := event.Batch{Tag: tag, Events: all[k*len(all)/j.Buckets : (k+1)*len(all)/j.Buckets]}
			before := outs[i].n
			if _, err := writers[i].Write(&share); err != nil {
				return r, err
			}
			if outs[i].n > before+int64(len("PAR1")) {
				outs[i].groups++
			}
			total += writers[i].Buffered() - held[i]
			held[i] = writers[i].Buffered()
			r.Held = max(r.Held, float64(total))
		}
	}
	for i, w := range writers {
		if err := w.Close(); err != nil {
			return r, err
		}
		r.Out += float64(outs[i].n)
		r.Groups += float64(outs[i].groups+1) / float64(j.Buckets)
	}
	return r, nil
}

// groupsOf is a file of which only its size and its row groups count: a writer
// puts one of them out at a time.
type groupsOf struct {
	discarded
	groups int
}
