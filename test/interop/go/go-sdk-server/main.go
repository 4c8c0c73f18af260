// The partner server on go-sdk, which speaks both eras: `go-sdk-server [--http]`.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type nothing struct{}

type question struct {
	Question string `json:"question"`
}

type words struct {
	Text string `json:"text"`
}

var answerSchema = &jsonschema.Schema{Type: "object",
	Properties: map[string]*jsonschema.Schema{"answer": {Type: "string"}}, Required: []string{"answer"}}

func main() {
	delay, _ := strconv.Atoi(os.Getenv("PARTNER_START_MS"))
	time.Sleep(time.Duration(delay) * time.Millisecond)
	server := newServer()
	if !slices.Contains(os.Args, "--http") {
		_ = server.Run(context.Background(), &mcp.StdioTransport{})
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("url http://%s/mcp\n", listener.Addr())
	_ = http.Serve(listener, handlerOf(server))
}

// handlerOf serves each era as the library wants it: the newer one without sessions, the older one with.
func handlerOf(server *mcp.Server) http.Handler {
	find := func(*http.Request) *mcp.Server { return server }
	modern := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{Stateless: true,
		PropagateRequestCancellation: true})
	legacy := mcp.NewStreamableHTTPHandler(find, nil)
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("MCP-Protocol-Version") >= "2026-07-28" {
			modern.ServeHTTP(response, request)
		} else {
			legacy.ServeHTTP(response, request)
		}
	})
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-sdk", Version: "1"},
		&mcp.ServerOptions{Instructions: "Notes of go-sdk."})
	mcp.AddTool(server, &mcp.Tool{Name: "quick"}, func(_ context.Context, _ *mcp.CallToolRequest,
		in words) (*mcp.CallToolResult, any, error) {
		return text("quick: " + in.Text), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, ask)
	mcp.AddTool(server, &mcp.Tool{Name: "ask_modern"}, askModern)
	mcp.AddTool(server, &mcp.Tool{Name: "sample"}, sample)
	mcp.AddTool(server, &mcp.Tool{Name: "sample_modern"}, sampleModern)
	mcp.AddTool(server, &mcp.Tool{Name: "work"}, work)
	addCancellation(server)
	mcp.AddTool(server, &mcp.Tool{Name: "change"}, func(context.Context, *mcp.CallToolRequest,
		nothing) (*mcp.CallToolResult, any, error) {
		// The library tells of the change by itself.
		mcp.AddTool(server, &mcp.Tool{Name: "extra"}, func(context.Context, *mcp.CallToolRequest,
			nothing) (*mcp.CallToolResult, any, error) {
			return text("extra"), nil, nil
		})
		return text("changed"), nil, nil
	})
	server.AddResource(&mcp.Resource{URI: "note://partner", Name: "note", MIMEType: "text/plain"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "note://partner", MIMEType: "text/plain",
				Text: "a note"}}}, nil
		})
	greet := &mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}}
	server.AddPrompt(greet, func(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		content := &mcp.TextContent{Text: "Greet " + request.Params.Arguments["name"]}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: content}}}, nil
	})
	return server
}

func text(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

func answered(result *mcp.ElicitResult) *mcp.CallToolResult {
	if result.Action != "accept" {
		return text("answer: " + result.Action)
	}
	return text(fmt.Sprintf("answer: %v", result.Content["answer"]))
}

func ask(ctx context.Context, request *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
	result, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: in.Question, RequestedSchema: answerSchema})
	if err != nil {
		return nil, nil, err
	}
	return answered(result), nil, nil
}

func askModern(_ context.Context, request *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
	if reply, ok := request.Params.InputResponses["answer"].(*mcp.ElicitResult); ok {
		return answered(reply), nil, nil
	}
	params := &mcp.ElicitParams{Message: in.Question, RequestedSchema: answerSchema}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"answer": params}}, nil, nil
}

func messages(in words) []*mcp.SamplingMessage {
	return []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Text}}}
}

func sampled(content mcp.Content) *mcp.CallToolResult {
	return text("sampled: " + content.(*mcp.TextContent).Text)
}

func sample(ctx context.Context, request *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
	result, err := request.Session.CreateMessage(ctx, &mcp.CreateMessageParams{Messages: messages(in), MaxTokens: 10})
	if err != nil {
		return nil, nil, err
	}
	return sampled(result.Content), nil, nil
}

func sampleModern(_ context.Context, request *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
	if reply, ok := request.Params.InputResponses["text"].(*mcp.CreateMessageWithToolsResult); ok {
		return sampled(reply.Content[0]), nil, nil
	}
	params := &mcp.CreateMessageParams{Messages: messages(in), MaxTokens: 10}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"text": params}}, nil, nil
}

func report(ctx context.Context, request *mcp.CallToolRequest, step float64, total float64) {
	if token := request.Params.GetProgressToken(); token != nil {
		_ = request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: step,
			Total: total})
	}
}

func work(ctx context.Context, request *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
	for step := range 6 {
		report(ctx, request, float64(step+1), 6)
		time.Sleep(500 * time.Millisecond)
	}
	return text("worked"), nil, nil
}

func addCancellation(server *mcp.Server) {
	var cancelled atomic.Int32
	mcp.AddTool(server, &mcp.Tool{Name: "hang"}, func(ctx context.Context, request *mcp.CallToolRequest,
		_ nothing) (*mcp.CallToolResult, any, error) {
		report(ctx, request, 1, 2)
		select {
		case <-ctx.Done():
			cancelled.Add(1)
			return nil, nil, ctx.Err()
		case <-time.After(time.Minute):
			return text("not cancelled"), nil, nil
		}
	})
	mcp.AddTool(server, &mcp.Tool{Name: "heard"}, func(context.Context, *mcp.CallToolRequest,
		nothing) (*mcp.CallToolResult, any, error) {
		return text(fmt.Sprintf("cancelled: %d", cancelled.Load())), nil, nil
	})
}
