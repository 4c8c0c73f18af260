// The partner client on go-sdk: `go-sdk-client TARGET`, the target as JSON (see package scenario).
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"toolyard.test/interop/scenario"
)

type partner struct {
	session  *mcp.ClientSession
	mu       sync.Mutex
	tokens   int
	progress map[any]func(float64)
}

func main() { scenario.Run(connect) }

func connect(ctx context.Context, target scenario.Target, person *scenario.Person) (scenario.Partner, error) {
	own := &partner{progress: map[any]func(float64){}}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"answer": person.Answer(request.Params.Message)}}, nil
		},
		CreateMessageHandler: func(_ context.Context, request *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			text := person.Model(request.Params.Messages[0].Content.(*mcp.TextContent).Text)
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: text}}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { person.Changed() },
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			own.heard(request.Params.ProgressToken, request.Params.Progress)
		},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: target.URL}
	if target.URL == "" {
		command := exec.Command(target.Command[0], target.Command[1:]...)
		command.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: command}
	}
	options := &mcp.ClientSessionOptions{}
	if target.Era == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	session, err := client.Connect(ctx, transport, options)
	own.session = session
	return own, err
}

func (p *partner) heard(token any, value float64) {
	p.mu.Lock()
	listener := p.progress[fmt.Sprint(token)]
	p.mu.Unlock()
	if listener != nil {
		listener(value)
	}
}

func (p *partner) Opened() scenario.Opened {
	result := p.session.InitializeResult()
	server := ""
	if result.ServerInfo != nil {
		server = result.ServerInfo.Name
	}
	return scenario.Opened{
		Version: result.ProtocolVersion, Server: server, Instructions: scenario.Text(result.Instructions),
		Capabilities: scenario.Capabilities(result.Capabilities),
	}
}

func (p *partner) Tools(ctx context.Context) ([]string, error) {
	names := []string{}
	for tool, err := range p.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (p *partner) Call(ctx context.Context, name string, arguments map[string]any, progress func(float64),
) (string, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	if progress != nil {
		p.mu.Lock()
		p.tokens++
		token := fmt.Sprintf("token-%d", p.tokens)
		p.progress[token] = progress
		p.mu.Unlock()
		params.SetProgressToken(token)
	}
	result, err := p.session.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	texts := []string{}
	for _, content := range result.Content {
		texts = append(texts, content.(*mcp.TextContent).Text)
	}
	return scenario.Joined(result.IsError, texts), nil
}

func (p *partner) Read(ctx context.Context, uri string) (string, error) {
	result, err := p.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return result.Contents[0].Text, nil
}

func (p *partner) Prompt(ctx context.Context, name string, arguments map[string]string) (string, error) {
	result, err := p.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
	if err != nil {
		return "", err
	}
	return result.Messages[0].Content.(*mcp.TextContent).Text, nil
}
