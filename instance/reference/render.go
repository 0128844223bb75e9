package main

import (
	"fmt"
	"strings"

	"github.com/out-hdfs/out_hdfs/conf"
)

const intro = `Keys are case-insensitive. Sizes take ` + "`K`, `M`, `G`" + ` (powers of 1000) and ` + "`KiB`, `MiB`, `GiB`" + ` (of 1024). ` +
	`Durations take ` + "`ms`, `s`, `m`, `h`, `d`" + `, also together as in ` + "`1h30m`" + `; a bare number is seconds. ` +
	`Lists are comma-separated. Fluent Bit hands an empty value on as unset, so ` + "`none`" + ` means empty.
`

// render is the table as Markdown: one table a group.
func render(options []conf.Option) string {
	var b strings.Builder
	b.WriteString(intro)
	group, scheme := "", ""
	for _, o := range options {
		if o.Scheme != "" {
			if scheme == "" {
				scheme = o.Scheme
			}
			if o.Scheme != scheme {
				continue // the same keys again
			}
			o.Key = strings.Replace(o.Key, "fs."+o.Scheme+".", "fs.<scheme>.", 1)
		}
		if o.Group != group {
			group = o.Group
			fmt.Fprintf(&b, "\n#### %s\n\n| key | value | default | |\n|---|---|---|---|\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Key, values(o), defaultText(o), help(o))
	}
	return b.String()
}

func values(o conf.Option) string {
	if o.Kind != conf.Choice {
		return string(o.Kind)
	}
	return "`" + strings.Join(o.Allowed, "`, `") + "`"
}

func defaultText(o conf.Option) string {
	switch {
	case o.DefaultText != "":
		return o.DefaultText
	case o.Required:
		return "required"
	case o.Default != "":
		return "`" + o.Default + "`"
	}
	return ""
}

func help(o conf.Option) string {
	text := o.Help
	if o.Example != "" {
		text += " Example: `" + o.Example + "`."
	}
	if o.Secret {
		text += " Shown in no log."
	}
	return strings.ReplaceAll(text, "|", "\\|")
}
