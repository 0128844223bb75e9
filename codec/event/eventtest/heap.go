package eventtest

import "runtime"

// Heap is how many bytes are in use on the heap, without garbage: it collects
// twice, since what a sync.Pool holds outlives one collection.
func Heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
