package journal

// Ledger counts what became of everything that was ever accepted. It begins with
// the state, and holds over restarts. How many records a chunk has is known when
// its first records are in a rolled part.
type Ledger struct {
	Chunks     uint64 // accepted
	EmptyOnes  uint64 // of them: they held no record
	LostChunks uint64 // of them: damage took them before all of their records were in rolled parts
	Records    uint64 // of the chunks that have records in rolled parts
	Rolled     uint64 // of them: in rolled parts, whether those are finished or not
	Letters    uint64 // of those: in parts of dead letters
	Lost       uint64 // of the chunks' records: with their chunk
}

// Account is the ledger with what is still to be done.
type Account struct {
	Ledger
	Published uint64 // records of finished parts
	Pending   uint64 // records of rolled parts that aren't finished
	Owed      uint64 // records in no rolled part, of chunks that have others in some
}

func (s *state) account() Account {
	a := Account{Ledger: s.ledger, Published: s.totals.Records}
	for _, c := range s.chunks {
		if c.records > 0 {
			a.Owed += uint64(c.records - c.covered.Count())
		}
	}
	for _, p := range s.parts {
		a.Pending += uint64(p.Records)
	}
	return a
}

// count notes that a share's records are in a rolled part now; so many of the
// chunk's were before.
func (s *state) count(c *chunk, before uint32, sh Share, letters bool) {
	known := c.records
	if known == 0 { // of a state of log.Version 1 those that were covered before are in Records
		known = before
	}
	// A chunk that is sent undecoded to the dead letters has another number then.
	s.ledger.Records += uint64(sh.Records) - uint64(known)
	c.records = sh.Records
	more := uint64(c.covered.Count() - before)
	s.ledger.Rolled += more
	if letters {
		s.ledger.Letters += more
	}
}

// countEmpty notes that a chunk holds no record, or none but those that are in
// rolled parts.
func (s *state) countEmpty(c *chunk) {
	if c.records == 0 {
		s.ledger.EmptyOnes++
		return
	}
	s.ledger.Records -= uint64(c.records - c.covered.Count())
}

// countLost notes that a chunk is lost.
func (s *state) countLost(c *chunk) {
	s.ledger.LostChunks++
	if c.records > 0 {
		s.ledger.Lost += uint64(c.records - c.covered.Count())
	}
}

func (s *state) encodeLedger(b []byte) []byte {
	l := s.ledger
	for _, n := range []uint64{l.Chunks, l.EmptyOnes, l.LostChunks, l.Records, l.Rolled, l.Letters, l.Lost} {
		b = putUint(b, n)
	}
	var counted []uint64
	for _, seq := range sortedKeys(s.chunks) {
		if s.chunks[seq].records > 0 {
			counted = append(counted, seq)
		}
	}
	b = putUint(b, uint64(len(counted)))
	for _, seq := range counted {
		b = putUint(putUint(b, seq), uint64(s.chunks[seq].records))
	}
	return b
}

func (s *state) decodeLedger(r *reader) {
	l := &s.ledger
	for _, n := range []*uint64{&l.Chunks, &l.EmptyOnes, &l.LostChunks, &l.Records, &l.Rolled, &l.Letters, &l.Lost} {
		*n = r.uint()
	}
	for range r.count(2) {
		c, records := s.chunks[r.uint()], r.uint32()
		if c == nil || records < c.covered.Count() {
			r.fail()
			return
		}
		c.records = records
	}
}

// beginLedger begins the ledger of a state that has none, of log.Version 1.
func (s *state) beginLedger() {
	for _, p := range s.parts {
		s.ledger.Rolled += uint64(p.Records)
	}
	s.ledger.Rolled += s.totals.Records
	s.ledger.Records = s.ledger.Rolled
	s.ledger.Chunks = uint64(len(s.chunks))
}

// Ledger is what became of everything.
func (l *queries) Ledger() Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.account()
}
