// Package scenario is what a client does with a server, and what it sees of it: the same as python/scenario.py, word
// for word.
package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	stepTime   = 20 * time.Second
	hangTime   = 10 * time.Second
	noticeTime = 5 * time.Second

	// Modern is the revision without sessions.
	Modern = "2026-07-28"
)

// Target is what the client is asked to do: its first argument, as JSON.
type Target struct {
	Era      string   `json:"era"`
	Scenario string   `json:"scenario"`
	Command  []string `json:"command"`
	URL      string   `json:"url"`
}

// Opened is what a connection says of itself.
type Opened struct {
	Version      string   `json:"version"`
	Server       string   `json:"server"`
	Instructions *string  `json:"instructions"`
	Capabilities []string `json:"capabilities"`
}

// Partner is one open connection, in the words of one library.
type Partner interface {
	Opened() Opened
	Tools(ctx context.Context) ([]string, error)
	Call(ctx context.Context, name string, arguments map[string]any, progress func(float64)) (string, error)
	Read(ctx context.Context, uri string) (string, error)
	Prompt(ctx context.Context, name string, arguments map[string]string) (string, error)
}

type observations = map[string]any

// seen is the result of a step, or the error in its place: an error is an observation too.
func seen[T any](wait time.Duration, step func(context.Context) (T, error)) any {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	done := make(chan any, 1)
	go func() {
		result, err := step(ctx)
		if err != nil {
			done <- "error: " + err.Error()
		} else {
			done <- result
		}
	}()
	select {
	case result := <-done:
		if ctx.Err() == nil {
			return result
		}
	case <-ctx.Done():
	}
	return fmt.Sprintf("no answer within %.0f s", wait.Seconds())
}

func call(partner Partner, name string, arguments map[string]any) any {
	return seen(stepTime, func(ctx context.Context) (string, error) { return partner.Call(ctx, name, arguments, nil) })
}

// named: a server that speaks both eras has a tool for each way to ask or to tell: `name` pushes, `name_modern` does
// as the newer era wants.
func named(tools any, name string, partner Partner) string {
	list, _ := tools.([]string)
	if modern := name + "_modern"; partner.Opened().Version == Modern && slices.Contains(list, modern) {
		return modern
	}
	return name
}

var words = map[string]map[string]any{"ask": {"question": "colour"}, "sample": {"text": "rain"}, "work": {},
	"quick": {"text": "hi"}}

// together makes four calls at once. The person answers when the other three are over.
func together(partner Partner, person *Person, tools any, order []string) observations {
	person.mu.Lock()
	mayAnswer := make(chan struct{})
	person.mayAnswer, person.asked = mayAnswer, []string{}
	person.mu.Unlock()

	var mu sync.Mutex
	var group sync.WaitGroup
	ended, progress, results := []string{}, []float64{}, observations{}
	onProgress := func(value float64) {
		mu.Lock()
		defer mu.Unlock()
		progress = append(progress, value)
	}
	one := func(name string) {
		defer group.Done()
		result := seen(stepTime, func(ctx context.Context) (string, error) {
			if name == "work" {
				return partner.Call(ctx, name, words[name], onProgress)
			}
			return partner.Call(ctx, named(tools, name, partner), words[name], nil)
		})
		mu.Lock()
		defer mu.Unlock()
		ended, results[name] = append(ended, name), result
		others := slices.DeleteFunc(slices.Clone(ended), func(name string) bool { return name == "ask" })
		if len(others) == 3 && name != "ask" {
			close(mayAnswer)
		}
	}
	for _, name := range order {
		group.Add(1)
		go one(name)
		// A routine starts when it likes; the order is that of the calls.
		time.Sleep(5 * time.Millisecond)
	}
	group.Wait()
	person.mu.Lock()
	defer person.mu.Unlock()
	mu.Lock()
	defer mu.Unlock()
	results["progress"], results["asked"] = progress, person.asked
	results["quickEndedBeforeWork"] = slices.Index(ended, "quick") < slices.Index(ended, "work")
	return results
}

// cancel withdraws a call as soon as it has begun.
func cancel(partner Partner) observations {
	begun := make(chan struct{}, 8)
	hasBegun := false
	ended := seen(hangTime, func(ctx context.Context) (string, error) {
		inner, withdraw := context.WithCancel(ctx)
		defer withdraw()
		go func() {
			hasBegun = within(begun, noticeTime)
			withdraw()
		}()
		_, err := partner.Call(inner, "hang", map[string]any{}, func(float64) { begun <- struct{}{} })
		if err != nil && inner.Err() != nil {
			return "left", nil
		}
		return "not left", err
	})
	var heard any
	for range 20 {
		if heard = call(partner, "heard", map[string]any{}); heard != "cancelled: 0" {
			break
		}
		time.Sleep(250 * time.Millisecond)
	}
	return observations{"begun": hasBegun, "ended": ended, "heard": heard}
}

func change(partner Partner, person *Person, tools any) observations {
	within(person.changed, 0)
	result := call(partner, named(tools, "change", partner), map[string]any{})
	heard := within(person.changed, noticeTime)
	return observations{"result": result, "heard": heard, "listed": seen(stepTime, partner.Tools),
		"extra": call(partner, "extra", map[string]any{})}
}

func read(partner Partner) any {
	return seen(stepTime, func(ctx context.Context) (string, error) { return partner.Read(ctx, "note://partner") })
}

func prompt(partner Partner) any {
	return seen(stepTime, func(ctx context.Context) (string, error) {
		return partner.Prompt(ctx, "greet", map[string]string{"name": "Ada"})
	})
}

// offered is what the server offers. Where it is slow to start, as a busy machine makes it, until it says so: cold
// starts are the other scenario's.
func offered(partner Partner) any {
	for range 20 {
		if tools, ok := seen(stepTime, partner.Tools).([]string); ok && len(tools) > 0 {
			return tools
		}
		time.Sleep(500 * time.Millisecond)
	}
	return []string{}
}

func whole(partner Partner, person *Person) observations {
	tools := offered(partner)
	seenAll := observations{"opened": partner.Opened(), "tools": tools,
		"quick": call(partner, "quick", map[string]any{"text": "one"})}
	seenAll["resource"], seenAll["prompt"] = read(partner), prompt(partner)
	seenAll["askFirst"] = together(partner, person, tools, []string{"ask", "sample", "work", "quick"})
	seenAll["askLast"] = together(partner, person, tools, []string{"quick", "work", "sample", "ask"})
	seenAll["cancel"], seenAll["change"] = cancel(partner), change(partner, person, tools)
	return seenAll
}

// cold does everything at once as soon as the connection stands, then again until it is served.
func cold(partner Partner, _ *Person) observations {
	var mu sync.Mutex
	var group sync.WaitGroup
	result := observations{"opened": partner.Opened()}
	steps := map[string]func() any{
		"quick":    func() any { return call(partner, "quick", map[string]any{"text": "one"}) },
		"resource": func() any { return read(partner) },
		"prompt":   func() any { return prompt(partner) },
		"tools":    func() any { return seen(stepTime, partner.Tools) },
	}
	for name, step := range steps {
		group.Go(func() {
			seen := step()
			mu.Lock()
			defer mu.Unlock()
			result[name] = seen
		})
	}
	group.Wait()
	for range 40 {
		if result["later"] = call(partner, "quick", map[string]any{"text": "two"}); result["later"] == "quick: two" {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	result["toolsLater"] = seen(stepTime, partner.Tools)
	return result
}

// Run connects, observes and prints one line of JSON.
func Run(connect func(context.Context, Target, *Person) (Partner, error)) {
	var target Target
	if err := json.Unmarshal([]byte(os.Args[1]), &target); err != nil {
		panic(err)
	}
	mayAnswer := make(chan struct{})
	close(mayAnswer)
	person := &Person{mayAnswer: mayAnswer, changed: make(chan struct{}, 1)}
	partner, err := connect(context.Background(), target, person)
	var seenAll observations
	switch {
	case err != nil:
		seenAll = observations{"error": err.Error()}
	case target.Scenario == "cold":
		seenAll = cold(partner, person)
	default:
		seenAll = whole(partner, person)
	}
	line, _ := json.Marshal(seenAll)
	fmt.Println(string(line))
}

// Capabilities gives `tools`, `tools.listChanged`, …: what is declared, without what is false.
func Capabilities(declared any) []string {
	names := []string{}
	text, _ := json.Marshal(declared)
	members := map[string]any{}
	_ = json.Unmarshal(text, &members)
	for name, value := range members {
		names = append(names, name)
		inner, _ := value.(map[string]any)
		for member, value := range inner {
			if value != false && value != nil {
				names = append(names, name+"."+member)
			}
		}
	}
	sort.Strings(names)
	return names
}

// Text is nothing where there is none.
func Text(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Joined is the text of a call's result.
func Joined(isError bool, texts []string) string {
	text := strings.Join(texts, " ")
	if isError {
		return "tool error: " + text
	}
	return text
}
