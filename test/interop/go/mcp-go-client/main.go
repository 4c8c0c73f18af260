// The partner client on mcp-go: `mcp-go-client TARGET`, the target as JSON (see package scenario).
package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"toolyard.test/interop/scenario"
)

type partner struct {
	client   *client.Client
	opened   *mcp.InitializeResult
	mu       sync.Mutex
	tokens   int
	progress map[string]func(float64)
}

// answerer answers for the person, and for the model.
type answerer struct{ person *scenario.Person }

func (a answerer) Elicit(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	content := map[string]any{"answer": a.person.Answer(request.Params.Message)}
	answer := mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: content}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

func (a answerer) CreateMessage(_ context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	text := a.person.Model(mcp.GetTextFromContent(request.Messages[0].Content))
	return &mcp.CreateMessageResult{SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant,
		Content: mcp.NewTextContent(text)}, Model: "none"}, nil
}

func main() { scenario.Run(connect) }

func connect(ctx context.Context, target scenario.Target, person *scenario.Person) (scenario.Partner, error) {
	wire, err := wireOf(target)
	if err != nil {
		return nil, err
	}
	options := []client.ClientOption{client.WithElicitationHandler(answerer{person}),
		client.WithSamplingHandler(answerer{person})}
	if target.Era == "legacy" {
		options = append(options, client.WithLegacyProtocolOnly())
	}
	own := &partner{client: client.NewClient(wire, options...), progress: map[string]func(float64){}}
	own.client.OnNotification(func(notification mcp.JSONRPCNotification) { own.heard(notification, person) })
	if err := own.client.Start(ctx); err != nil {
		return nil, err
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1"}
	if own.opened, err = own.client.Initialize(ctx, request); err != nil {
		return nil, err
	}
	if own.opened.ProtocolVersion == scenario.Modern {
		filter := mcp.SubscriptionFilter{ToolsListChanged: true}
		_, err = own.client.ListenAsync(ctx, filter, func(err error) { fmt.Fprintln(os.Stderr, "listen:", err) })
	}
	return own, err
}

func wireOf(target scenario.Target) (transport.Interface, error) {
	if target.URL == "" {
		return transport.NewStdio(target.Command[0], nil, target.Command[1:]...), nil
	}
	options := []transport.StreamableHTTPCOption{}
	if target.Era == "legacy" {
		// What arrives between calls needs the standing stream, which the newer revision does not have.
		options = append(options, transport.WithContinuousListening())
	}
	return transport.NewStreamableHTTP(target.URL, options...)
}

func (p *partner) heard(notification mcp.JSONRPCNotification, person *scenario.Person) {
	switch notification.Method {
	case "notifications/tools/list_changed":
		person.Changed()
	case "notifications/progress":
		p.mu.Lock()
		listener := p.progress[fmt.Sprint(notification.Params.AdditionalFields["progressToken"])]
		p.mu.Unlock()
		if value, ok := notification.Params.AdditionalFields["progress"].(float64); ok && listener != nil {
			listener(value)
		}
	}
}

func (p *partner) Opened() scenario.Opened {
	return scenario.Opened{
		Version: p.opened.ProtocolVersion, Server: p.opened.ServerInfo.Name,
		Instructions: scenario.Text(p.opened.Instructions),
		Capabilities: scenario.Capabilities(p.opened.Capabilities),
	}
}

func (p *partner) Tools(ctx context.Context) ([]string, error) {
	result, err := p.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (p *partner) Call(ctx context.Context, name string, arguments map[string]any, progress func(float64),
) (string, error) {
	request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments}}
	if progress != nil {
		p.mu.Lock()
		p.tokens++
		token := fmt.Sprintf("token-%d", p.tokens)
		p.progress[token] = progress
		p.mu.Unlock()
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	result, err := p.client.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	texts := []string{}
	for _, content := range result.Content {
		texts = append(texts, mcp.GetTextFromContent(content))
	}
	return scenario.Joined(result.IsError, texts), nil
}

func (p *partner) Read(ctx context.Context, uri string) (string, error) {
	result, err := p.client.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
	if err != nil {
		return "", err
	}
	return result.Contents[0].(mcp.TextResourceContents).Text, nil
}

func (p *partner) Prompt(ctx context.Context, name string, arguments map[string]string) (string, error) {
	result, err := p.client.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name,
		Arguments: arguments}})
	if err != nil {
		return "", err
	}
	return mcp.GetTextFromContent(result.Messages[0].Content), nil
}
