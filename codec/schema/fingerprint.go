package schema

// fingerprint is the 64-bit Rabin fingerprint of Avro's specification
// ("Schema Fingerprints", CRC-64-AVRO), over the text as it stands.
func fingerprint(text []byte) uint64 {
	const empty = 0xc15d213aa4d7a795
	fp := uint64(empty)
	for _, b := range text {
		fp ^= uint64(b)
		for range 8 {
			fp = fp>>1 ^ empty&-(fp&1)
		}
	}
	return fp
}
