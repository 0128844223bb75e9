package encode

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// encode makes the shares' blocks, if the format can do that ahead of the
// file. They lie one behind the other in one buffer, so that many shares cost
// no more than one.
func (w *worker) encode(j *chunk.Job) {
	if w.encoder == nil {
		return
	}
	j.Blocks = w.memory.Take(chunk.TypicalBlocks(len(j.Data)))
	ends := make([]int, len(j.Shares))
	for i, sh := range j.Shares {
		sh.Encoded = true
		var rejects []codec.Reject
		j.Blocks, rejects = w.encodeShare(j.Blocks, sh)
		ends[i] = len(j.Blocks)
		sh.Account(rejects)
		j.Reject(rejects)
	}
	begin := 0
	for i, sh := range j.Shares {
		sh.Block, begin = j.Blocks[begin:ends[i]:ends[i]], ends[i]
	}
}

// blocksToCome is what the shares' blocks will take, in bytes.
func (w *worker) blocksToCome(j *chunk.Job) int64 {
	if w.encoder == nil {
		return 0
	}
	return memory.Lent(chunk.TypicalBlocks(len(j.Data)))
}

// encodeShare appends the share's block to dst. After a panic it encodes record by
// record, so that it costs one.
func (w *worker) encodeShare(dst []byte, sh *chunk.Share) (block []byte, rejects []codec.Reject) {
	panicked := run.Safely(func() { block, rejects = w.encoder.Encode(dst, &sh.Batch) })
	if panicked == "" {
		return block, rejects
	}
	block, rejects = dst, nil
	w.renewEncoder()
	for _, e := range sh.Batch.Events {
		one := event.Batch{Tag: sh.Batch.Tag, Arrival: sh.Batch.Arrival, Events: []*event.Event{e}}
		before := block
		panicked := run.Safely(func() {
			var r []codec.Reject
			block, r = w.encoder.Encode(block, &one)
			rejects = append(rejects, r...)
		})
		if panicked != "" {
			block = before
			w.renewEncoder()
			rejects = append(rejects, codec.Reject{Event: e, Reason: panicked})
		}
	}
	return block, rejects
}
