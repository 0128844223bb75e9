package schema

import (
	"encoding/json"
	"fmt"
)

func (p *parser) enum(m map[string]any, namespace string) (*Type, error) {
	t := &Type{Kind: Enum}
	full, _, err := p.define(m, namespace, t)
	if err != nil {
		return nil, err
	}
	t.Name = full
	list, _ := m["symbols"].([]any)
	seen := map[string]bool{}
	for _, v := range list {
		s, _ := v.(string)
		if seen[s] {
			return nil, fmt.Errorf("the enum %q has the symbol %q twice: use each once", full, s)
		}
		seen[s] = true
		t.Symbols = append(t.Symbols, s)
	}
	return t, nil
}

func (p *parser) fixed(m map[string]any, namespace string) (*Type, error) {
	t := &Type{Kind: Fixed}
	full, _, err := p.define(m, namespace, t)
	if err != nil {
		return nil, err
	}
	t.Name = full
	const largest = 1 << 20
	size, ok := integer(m["size"])
	if !ok || size < 1 || size > largest {
		return nil, fmt.Errorf("the fixed %q has the size %v: use 1 to %d bytes", full, m["size"], largest)
	}
	t.Size = size
	if logical, ok := m["logicalType"]; logical == any(Decimal.String()) {
		return t, t.decimal(m)
	} else if ok {
		p.warn("the logical type %v has no effect on the type fixed", logical)
	}
	return t, nil
}

func integer(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil
}

// logicalOf is the logical type of that name, None if there is none here.
func logicalOf(name any) Logical {
	for i, known := range logicalNames() {
		if known != "" && name == any(known) {
			return Logical(i)
		}
	}
	return None
}

// withLogical adds m's logical type to the primitive t. One that isn't known here
// is metadata, as Avro's specification has it.
func (p *parser) withLogical(t *Type, m map[string]any) (*Type, error) {
	name, given := m["logicalType"]
	logical := logicalOf(name)
	if logical == None {
		if given {
			p.warn("the logical type %v isn't known: the column is of the plain type %s", name, t.Kind)
		}
		return t, nil
	}
	bases := map[Logical]Kind{
		Date: Int, TimeMillis: Int, TimeMicros: Long, TimestampMillis: Long, TimestampMicros: Long,
		LocalTimestampMillis: Long, LocalTimestampMicros: Long, Decimal: Bytes, UUID: String, FreeForm: String,
	}
	if t.Kind != bases[logical] {
		return nil, fmt.Errorf("the logical type %s is one of %s, not of %s", name, bases[logical], t.Kind)
	}
	t = &Type{Kind: t.Kind, Logical: logical}
	if logical == Decimal {
		return t, t.decimal(m)
	}
	return t, nil
}

// MaxDigits is the most digits of a Decimal: what Spark, Hive and Trino take.
const MaxDigits = 38

func (t *Type) decimal(m map[string]any) error {
	t.Logical = Decimal
	var ok bool
	if t.Precision, ok = integer(m["precision"]); !ok || t.Precision < 1 || t.Precision > MaxDigits {
		return fmt.Errorf("a decimal has the precision %v: use 1 to %d digits", m["precision"], MaxDigits)
	}
	if v, given := m["scale"]; given {
		if t.Scale, ok = integer(v); !ok || t.Scale < 0 || t.Scale > t.Precision {
			return fmt.Errorf("a decimal has the scale %v: use 0 to its precision, %d", v, t.Precision)
		}
	}
	if t.Kind == Fixed && t.Size < bytesOfDigits(t.Precision) {
		return fmt.Errorf("a fixed of %d bytes is too small for %d digits", t.Size, t.Precision)
	}
	return nil
}

// bytesOfDigits is the least two's complement that any number of so many
// digits fits.
func bytesOfDigits(digits int) int {
	const bitsPerDigit = 3.3219280948873626
	return (int(float64(digits)*bitsPerDigit)+1)/8 + 1
}

// DecimalSize is how many bytes hold every value of a Decimal.
func (t *Type) DecimalSize() int { return bytesOfDigits(t.Precision) }
