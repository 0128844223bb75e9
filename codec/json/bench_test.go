package json_test

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// BenchmarkLines is a chunk from its bytes to its lines; MB/s are of msgpack.
func BenchmarkLines(b *testing.B) {
	chunks := []struct {
		name  string
		chunk []byte
	}{
		{"kubernetes", eventtest.Kubernetes(2000)},
		{"plain", eventtest.Plain(2000)},
		{"otlp", eventtest.OTLP(20, 100)},
	}
	for _, c := range chunks {
		b.Run(c.name, func(b *testing.B) {
			enc := json.NewEncoder(json.Options{DateKey: json.DefaultDateKey})
			var r event.Reader
			var e event.Event
			dst := make([]byte, 0, 4*len(c.chunk))
			b.SetBytes(int64(len(c.chunk)))
			b.ReportAllocs()
			for b.Loop() {
				dst = dst[:0]
				for r.Reset(c.chunk); r.Next(&e); {
					dst, _ = enc.AppendLine(dst, &e, "tag")
				}
			}
		})
	}
}

// BenchmarkStrings is one string value alone.
func BenchmarkStrings(b *testing.B) {
	texts := map[string]string{
		"short ascii": "stdout",
		"ascii":       "10.0.0.1 - - [01/Mar/2026] GET /index.html HTTP/1.1 200 5120 Mozilla/5.0 (X11; Linux x86_64)",
		"chinese":     "订单已支付，用户张伟，金额一百元，通知已发送，仓库已收到，请在三个工作日内发货，谢谢您的惠顾",
		"mixed":       "订单 8812 已支付，user=张伟，amount=¥100.50，state=已发送 (node-17)，trace=3f2a8d1e，谢谢",
		"quotes":      `{"level":"info","msg":"a \"quoted\" line","path":"C:\\temp"}`,
	}
	for name, s := range texts {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				dst = json.AppendString(dst[:0], []byte(s))
			}
		})
	}
}
