// Command sample writes the demo's log events: four hours of a small shop on
// Kubernetes, as JSON lines in the order of their times, always the same ones.
//
//	go run ./tests/demo/sample > tests/demo/sample.ndjson
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"time"
)

const events = 2000

type kubernetes struct {
	Namespace string `json:"namespace_name"`
	Pod       string `json:"pod_name"`
	Container string `json:"container_name"`
}

type event struct {
	Time       string     `json:"time"`
	ID         int        `json:"id"`
	Level      string     `json:"level"`
	Log        string     `json:"log"`
	Kubernetes kubernetes `json:"kubernetes"`
}

func main() {
	r := rand.New(rand.NewPCG(2026, 11))
	w := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	at := time.Date(2026, 11, 28, 8, 30, 0, 0, time.UTC)
	for id := range events {
		at = at.Add(time.Duration(r.IntN(14000)) * time.Millisecond)
		e := event{Time: at.Format("2006-01-02T15:04:05.000Z"), ID: id + 1}
		e.Level, e.Log, e.Kubernetes = say(r)
		if err := lines.Encode(e); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

func say(r *rand.Rand) (level, text string, where kubernetes) {
	ms := 3 + r.IntN(60)
	order := 10000 + r.IntN(90000)
	pod := func(container string) kubernetes {
		return kubernetes{"shop", fmt.Sprintf("%s-7d9f8c6b5-%s", container, []string{"4kqzx", "9w2lm", "t7hgd"}[r.IntN(3)]), container}
	}
	switch n := r.IntN(100); {
	case n < 45:
		return "info", fmt.Sprintf("GET /api/products/%d 200 %dms", r.IntN(500), ms), pod("catalog")
	case n < 70:
		return "info", fmt.Sprintf("POST /api/cart 201 %dms", ms), pod("cart")
	case n < 85:
		return "info", fmt.Sprintf("订单 %d 已支付,金额 %d.%02d 元", order, 10+r.IntN(900), r.IntN(100)), pod("payment")
	case n < 93:
		return "warn", fmt.Sprintf("库存不足: 商品 %d 剩余 %d 件", r.IntN(500), r.IntN(5)), pod("catalog")
	case n < 98:
		return "info", fmt.Sprintf("reconciled deployment \"shop/cart\" in %dms", ms), kubernetes{"kube-system", "controller-0", "manager"}
	default:
		return "error", fmt.Sprintf("payment of order %d failed: connection reset by peer\n\tat retry %d of 3", order, 1+r.IntN(3)), pod("payment")
	}
}
