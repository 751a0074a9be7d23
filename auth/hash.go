package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// MaxPasscode is the length of the longest passcode, in octets.
const MaxPasscode = 1024

// maxBcrypt is how much of a passcode bcrypt looks at, in octets. Longer ones are refused where the hash is one of it.
const maxBcrypt = 72

// noPasscode in the place of a hash is that of a user who cannot log in with a passcode.
const noPasscode = "!"

// What a new hash costs: 19 MiB, two passes, one lane, the least that OWASP recommends for argon2id.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	saltOctets   = 16
	keyOctets    = 32
)

// The most that a hash in a file may cost. Whoever writes it decides how long a login takes and what memory it needs.
const (
	maxArgonMemory  = 256 << 10 // KiB
	maxArgonTime    = 16
	maxArgonThreads = 16
	maxBcryptCost   = 14
)

// hash is a passcode as it is kept.
type hash struct {
	text   string
	bcrypt bool
	// Of argon2id.
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

// HashPasscode makes the hash of a passcode, as it stands in a file of users. It takes some 20 ms and 19 MiB.
func HashPasscode(passcode string) (string, error) {
	switch {
	case passcode == "":
		return "", errors.New("the passcode is empty")
	case len(passcode) > MaxPasscode:
		return "", fmt.Errorf("the passcode has more than %d octets", MaxPasscode)
	case strings.ContainsAny(passcode, "\r\n\x00"):
		return "", errors.New("the passcode has a line break or NUL, which CONNECT cannot carry")
	}
	salt := make([]byte, saltOctets)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(passcode), salt, argonTime, argonMemory, argonThreads, keyOctets)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, encode(salt), encode(key)), nil
}

// parseHash reads $argon2id$v=19$m=...,t=...,p=...$SALT$KEY or a hash of bcrypt.
func parseHash(text string) (*hash, error) {
	switch {
	case strings.HasPrefix(text, "$argon2id$"):
		return parseArgon(text)
	case strings.HasPrefix(text, "$2a$") || strings.HasPrefix(text, "$2b$") || strings.HasPrefix(text, "$2y$"):
		cost, err := bcrypt.Cost([]byte(text))
		switch {
		case err != nil || len(text) != 60:
			return nil, errors.New("the hash is no whole one of bcrypt")
		case cost > maxBcryptCost:
			return nil, fmt.Errorf("the hash has a cost of %d, more than %d", cost, maxBcryptCost)
		}
		return &hash{text: text, bcrypt: true}, nil
	}
	return nil, errors.New("the hash is neither of argon2id nor of bcrypt")
}

func parseArgon(text string) (*hash, error) {
	parts := strings.Split(text, "$") // the first is empty
	if len(parts) != 6 || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, fmt.Errorf("the hash is not of the form $argon2id$v=%d$m=...,t=...,p=...$SALT$KEY", argon2.Version)
	}
	h := &hash{text: text}
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return nil, errors.New("the hash has other parameters than m, t and p")
	}
	memory, err1 := parseCost(costs[0], "m", maxArgonMemory)
	time, err2 := parseCost(costs[1], "t", maxArgonTime)
	threads, err3 := parseCost(costs[2], "p", maxArgonThreads)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if memory < 8*threads {
		return nil, errors.New("the hash has less memory (m) than 8 KiB for each lane (p)")
	}
	h.memory, h.time, h.threads = memory, time, uint8(threads)
	var err error
	if h.salt, err = base64.RawStdEncoding.Strict().DecodeString(parts[4]); err != nil || len(h.salt) < 8 || len(h.salt) > 64 {
		return nil, errors.New("the hash has no salt of 8 to 64 octets in Base64")
	}
	if h.key, err = base64.RawStdEncoding.Strict().DecodeString(parts[5]); err != nil || len(h.key) < 16 || len(h.key) > 64 {
		return nil, errors.New("the hash has no key of 16 to 64 octets in Base64")
	}
	return h, nil
}

// parseCost reads a parameter of argon2id, from 1 to most.
func parseCost(text, name string, most uint64) (uint32, error) {
	digits, ok := strings.CutPrefix(text, name+"=")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || n < 1 || n > most || strconv.FormatUint(n, 10) != digits {
		return 0, fmt.Errorf("the hash has no parameter %s from 1 to %d", name, most)
	}
	return uint32(n), nil
}

// matches tells whether a passcode is the one that was hashed. How long it takes depends on the hash alone.
func (h *hash) matches(passcode string) bool {
	if h.bcrypt {
		cut := passcode[:min(len(passcode), maxBcrypt)]
		return bcrypt.CompareHashAndPassword([]byte(h.text), []byte(cut)) == nil && len(passcode) <= maxBcrypt
	}
	key := argon2.IDKey([]byte(passcode), h.salt, h.time, h.memory, h.threads, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1
}
