// Package main is out_hdfs.so, as Fluent Bit loads it.
//
// It owns the border: what Fluent Bit calls (fluentbit.c), how a flush leaves
// Fluent Bit's coroutine (handoff.c), and the instances that are running. A
// flush goes to its instance and that one's answer goes back; everything else
// is the sink's. No panic leaves it, no answer but OK and RETRY is given, and
// Go never runs on a coroutine's stack nor in a process that forked.
package main

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Wno-unused-parameter
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "fluentbit.h"
import "C"

import "unsafe"

func main() {} // a plugin has none, but a c-shared library wants one

// running is every instance of this process. It is the one state of this
// package, since Fluent Bit hands nothing else from call to call: a hot reload
// initialises new instances in the same process.
var running = newInstances(openSink, handoff{})

//export hdfsInit
func hdfsInit(plugin *C.struct_fb_output) (id C.uintptr_t) {
	name := make([]byte, 128)
	C.hdfs_name(plugin, (*C.char)(unsafe.Pointer(&name[0])), C.size_t(len(name)))
	return C.uintptr_t(running.start(host{
		name:  C.GoString((*C.char)(unsafe.Pointer(&name[0]))),
		level: int(C.hdfs_log_level(plugin)),
		lookup: func(key string) string {
			k := C.CString(key)
			defer C.free(unsafe.Pointer(k))
			return C.GoString(C.hdfs_property(plugin, k))
		},
		report: func(line string) {
			l := C.CString(line)
			defer C.free(unsafe.Pointer(l))
			C.hdfs_log(plugin, C.FB_LOG_ERROR, l)
		},
	}))
}

//export hdfsExit
func hdfsExit(id C.uintptr_t) { running.stop(uintptr(id)) }

// handoff is where flushes arrive from Fluent Bit's coroutines.
type handoff struct{}

func (handoff) open() { C.hdfs_handoff_open() }

func (handoff) close() { C.hdfs_handoff_close() }

func (handoff) next() (pending, bool) {
	f := C.hdfs_handoff_next()
	if f == nil {
		return pending{}, false
	}
	var data []byte
	if f.data != nil {
		data = unsafe.Slice((*byte)(f.data), uint64(f.size))
	}
	return pending{
		instance: uintptr(f.instance),
		flush:    flush{tag: C.GoString(f.tag), data: data, onEngineThread: f.on_engine != 0},
		answer:   func(a answer) { C.hdfs_handoff_answer(f, C.int(a)) },
	}, true
}

// The answers that Fluent Bit understands. There is no name here for its
// FLB_ERROR, on which it deletes the chunk.
const (
	ok    answer = C.FB_OK
	retry answer = C.FB_RETRY
)
