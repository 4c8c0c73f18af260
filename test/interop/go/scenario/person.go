package scenario

import (
	"sync"
	"time"
)

// A person who answers last waits for the other calls of the round, but not for ever.
const patience = 8 * time.Second

// Person answers what a server asks: the person for `ask`, the model for `sample`.
type Person struct {
	mu        sync.Mutex
	mayAnswer chan struct{}
	asked     []string
	changed   chan struct{}
}

// Answer is the person's, once it is time to.
func (p *Person) Answer(message string) string {
	p.mu.Lock()
	p.asked = append(p.asked, message)
	mayAnswer := p.mayAnswer
	p.mu.Unlock()
	if !within(mayAnswer, patience) {
		return "too late"
	}
	return "blue for " + message
}

// Model is the model's answer.
func (p *Person) Model(text string) string { return "said " + text }

// Changed tells that the server's list changed.
func (p *Person) Changed() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func within[T any](event <-chan T, wait time.Duration) bool {
	select {
	case <-event:
		return true
	case <-time.After(wait):
		return false
	}
}
