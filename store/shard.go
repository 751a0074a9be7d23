package store

// ShardOf returns the shard of a destination. The answer is part of the stored
// format and never changes: FNV-1a of the kind and the name, 64 bits, mixed with
// MurmurHash3's finalizer, the upper 6 bits of that.
func ShardOf(kind uint8, name string) Shard {
	const offset, prime = 14695981039346656037, 1099511628211
	h := (uint64(offset) ^ uint64(kind)) * prime
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return Shard(h >> 58)
}
