// Package fluentbit is the border to Fluent Bit: what Fluent Bit calls
// (exports.c), how a flush leaves its coroutine (handoff.c), and the instances
// that are running.
//
// A flush goes to its instance and that one's answer goes back; what an instance
// does is the Output's. No panic leaves this package, no answer but OK and RETRY
// is given, and Go never runs on a coroutine's stack nor in a process that
// forked. It alone knows C.
//
// Registration, the look-up of a property and the answers are fluent-bit-go's.
// Ours are, and why:
//
//   - the hand-over: fluent-bit-go expects Go to be called on the coroutine;
//   - the check for a fork: it has none, and a flush would wait for ever;
//   - an instance's log level, name and log, which it doesn't offer;
//   - the context of an instance: its table of them is never emptied.
package fluentbit

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Wno-unused-parameter
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "fluentbit.h"
import "C"

import (
	"unsafe"

	flb "github.com/fluent/fluent-bit-go/output"
)

// running is every instance of this process. Fluent Bit hands nothing else from
// call to call: a hot reload initialises new instances in the same process.
var running *instances

// Serve makes open the one that opens outputs. It is called once, before Fluent
// Bit calls anything: in an init function of the plugin's main package.
func Serve(open Opener) { running = newInstances(open, handoff{}) }

//export hdfsRegister
func hdfsRegister(registration unsafe.Pointer) C.int {
	return C.int(flb.FLBPluginRegister(registration, "hdfs", "HDFS and local files, exactly once"))
}

//export hdfsUnregister
func hdfsUnregister(registration unsafe.Pointer) { flb.FLBPluginUnregister(registration) }

//export hdfsInit
func hdfsInit(plugin *C.struct_fb_output) (id C.uintptr_t) {
	name := make([]byte, 128)
	C.hdfs_name(plugin, (*C.char)(unsafe.Pointer(&name[0])), C.size_t(len(name)))
	return C.uintptr_t(running.start(host{
		name:   C.GoString((*C.char)(unsafe.Pointer(&name[0]))),
		level:  int(C.hdfs_log_level(plugin)),
		lookup: func(key string) string { return flb.FLBPluginConfigKey(unsafe.Pointer(plugin), key) },
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
		flush:    Flush{Tag: C.GoString(f.tag), Data: data, OnEngineThread: f.on_engine != 0},
		answer:   func(a Answer) { C.hdfs_handoff_answer(f, C.int(a)) },
	}, true
}

// The answers that are given. Fluent Bit's third one, FLB_ERROR, has no name
// here: on it Fluent Bit deletes the chunk.
const (
	OK    Answer = flb.FLB_OK
	Retry Answer = flb.FLB_RETRY
)
