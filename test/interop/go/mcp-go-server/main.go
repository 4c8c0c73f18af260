// The partner server on mcp-go, which speaks both eras: `mcp-go-server [--http]`.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var answerSchema = map[string]any{
	"type": "object", "properties": map[string]any{"answer": map[string]any{"type": "string"}},
	"required": []string{"answer"},
}

func main() {
	delay, _ := strconv.Atoi(os.Getenv("PARTNER_START_MS"))
	time.Sleep(time.Duration(delay) * time.Millisecond)
	own := newServer()
	if !slices.Contains(os.Args, "--http") {
		_ = server.ServeStdio(own)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("url http://%s/mcp\n", listener.Addr())
	_ = http.Serve(listener, server.NewStreamableHTTPServer(own, server.WithStateful(true)))
}

func newServer() *server.MCPServer {
	own := server.NewMCPServer(
		"mcp-go", "1", server.WithInstructions("Notes of mcp-go."), server.WithToolCapabilities(true),
		server.WithResourceCapabilities(false, true),
		server.WithPromptCapabilities(true), server.WithElicitation(),
	)
	own.EnableSampling()
	own.AddTool(mcp.NewTool("quick", mcp.WithString("text", mcp.Required())),
		func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("quick: " + request.GetString("text", "")), nil
		})
	question, words := mcp.WithString("question", mcp.Required()), mcp.WithString("text", mcp.Required())
	own.AddTool(mcp.NewTool("ask", question), ask)
	own.AddTool(mcp.NewTool("ask_modern", question), askModern)
	own.AddTool(mcp.NewTool("sample", words), sample)
	own.AddTool(mcp.NewTool("sample_modern", words), sampleModern)
	own.AddTool(mcp.NewTool("work"), work)
	addCancellation(own)
	own.AddTool(mcp.NewTool("change"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		// The library tells of the change by itself.
		own.AddTool(mcp.NewTool("extra"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult,
			error) {
			return text("extra"), nil
		})
		return text("changed"), nil
	})
	own.AddResource(mcp.NewResource("note://partner", "note"),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "note://partner", MIMEType: "text/plain",
				Text: "a note"}}, nil
		})
	greet := mcp.NewPrompt("greet", mcp.WithArgument("name", mcp.RequiredArgument()))
	own.AddPrompt(greet, func(_ context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		content := mcp.NewTextContent("Greet " + request.Params.Arguments["name"])
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, content)}}, nil
	})
	return own
}

func text(words string) *mcp.CallToolResult { return mcp.NewToolResultText(words) }

func answered(result *mcp.ElicitationResult) *mcp.CallToolResult {
	if result.Action != mcp.ElicitationResponseActionAccept {
		return text("answer: " + string(result.Action))
	}
	content, _ := result.Content.(map[string]any)
	return text(fmt.Sprintf("answer: %v", content["answer"]))
}

func ask(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	params := mcp.ElicitationParams{Message: request.GetString("question", ""), RequestedSchema: answerSchema}
	result, err := server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: params})
	if err != nil {
		return nil, err
	}
	return answered(result), nil
}

func askModern(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if reply := server.ElicitationResponse(request.Params.InputResponses, "answer"); reply != nil {
		return answered(reply), nil
	}
	params := mcp.ElicitationParams{Message: request.GetString("question", ""), RequestedSchema: answerSchema}
	return server.NewInputRequestBuilder("").Elicit("answer", params).ToolResult(), nil
}

func sampling(request mcp.CallToolRequest) mcp.CreateMessageParams {
	message := mcp.SamplingMessage{Role: mcp.RoleUser, Content: mcp.NewTextContent(request.GetString("text", ""))}
	return mcp.CreateMessageParams{Messages: []mcp.SamplingMessage{message}, MaxTokens: 10}
}

func sampled(content any) *mcp.CallToolResult {
	return text("sampled: " + mcp.GetTextFromContent(content))
}

func sample(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	asked := mcp.CreateMessageRequest{CreateMessageParams: sampling(request)}
	result, err := server.ServerFromContext(ctx).RequestSampling(ctx, asked)
	if err != nil {
		return nil, err
	}
	return sampled(result.Content), nil
}

func sampleModern(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if reply := server.SamplingResponse(request.Params.InputResponses, "text"); reply != nil {
		return sampled(reply.Content), nil
	}
	return server.NewInputRequestBuilder("").Sample("text", sampling(request)).ToolResult(), nil
}

func report(ctx context.Context, request mcp.CallToolRequest, step int, total int) {
	if request.Params.Meta == nil || request.Params.Meta.ProgressToken == nil {
		return
	}
	params := map[string]any{"progressToken": request.Params.Meta.ProgressToken, "progress": step, "total": total}
	_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", params)
}

func work(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for step := range 6 {
		// Before the pause: the library may send what is reported last behind the result, where nobody has to hear it.
		report(ctx, request, step+1, 6)
		time.Sleep(500 * time.Millisecond)
	}
	return text("worked"), nil
}

func addCancellation(own *server.MCPServer) {
	var cancelled atomic.Int32
	own.AddTool(mcp.NewTool("hang"), func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		report(ctx, request, 1, 2)
		select {
		case <-ctx.Done():
			cancelled.Add(1)
			return nil, errors.New("cancelled")
		case <-time.After(time.Minute):
			return text("not cancelled"), nil
		}
	})
	own.AddTool(mcp.NewTool("heard"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(fmt.Sprintf("cancelled: %d", cancelled.Load())), nil
	})
}
