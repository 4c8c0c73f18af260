import { useEffect, useRef, useState } from "preact/hooks";
import { formatMs, t } from "../i18n/texts.ts";
import { href } from "../route.ts";
import {
  asMarkdown,
  clearConversation,
  conversation,
  sendMessage,
  stopAnswer,
  type AnswerPart,
  type CallEntry,
  type ChatTurn,
} from "../ui/conversation.ts";
import { Failure } from "../ui/failure.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { Commands, Foreign, Json, Name, Outcome } from "../ui/parts.tsx";
import { Result } from "../ui/result.tsx";
import { toSchema } from "../ui/schema-form.tsx";

export function ChatView() {
  const { turns, history } = conversation.value;
  const isRunning = turns.at(-1)?.isRunning === true;
  const end = useRef<HTMLDivElement>(null);
  const last = turns.at(-1)?.parts.length;
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [turns.length, last]);
  return (
    <>
      <p class="dim">{t("chatHint")}</p>
      <div class="chat" role="log" aria-label={t("chat")} aria-busy={isRunning}>
        {turns.map((turn, at) => (
          <Turn key={at} turn={turn} />
        ))}
        <div ref={end} />
      </div>
      <Question isRunning={isRunning} />
      {turns.length > 0 && (
        <p class="actions">
          <SaveButton name="chat.md" type="text/markdown" text={() => asMarkdown(turns)} />
          <SaveButton
            name="chat.json"
            type="application/json"
            text={() => JSON.stringify({ version: 1, messages: history }, null, 2)}
          />
          <button type="button" onClick={clearConversation}>
            {t("newChat")}
          </button>
        </p>
      )}
      <Commands lines={["toolyard chat", 'toolyard chat --once "QUESTION"']} />
    </>
  );
}

function Question({ isRunning }: { readonly isRunning: boolean }) {
  const [text, setText] = useState("");
  const send = (): void => {
    const message = text.trim();
    if (message === "" || isRunning) return;
    setText("");
    void sendMessage(message);
  };
  return (
    <form
      class="chat-question"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label>
        <span class="hidden">{t("message")}</span>
        <textarea
          rows={Math.min(12, Math.max(2, text.split("\n").length))}
          dir="auto"
          value={text}
          placeholder={t("messageHint")}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
      </label>
      <p class="actions">
        <button class="main" disabled={isRunning}>
          {t(isRunning ? "running" : "send")}
        </button>
        {isRunning && (
          <button type="button" onClick={stopAnswer}>
            {t("stop")}
          </button>
        )}
      </p>
    </form>
  );
}

function Turn({ turn }: { readonly turn: ChatTurn }) {
  const { question, parts, isRunning, stopReason, usage, error } = turn;
  const { inputTokens, outputTokens } = usage ?? {};
  return (
    <article>
      <p class="asked" dir="auto">
        <Foreign text={question} />
      </p>
      {parts.map((part, at) => (
        <Part key={at} part={part} isGrowing={isRunning && at === parts.length - 1} />
      ))}
      {isRunning && <p class="dim">{t("running")}</p>}
      {stopReason !== undefined && stopReason !== "final" && (
        <p class="dim">{t("chatStopped", { reason: stopReason })}</p>
      )}
      {error && <Failure error={error} />}
      {inputTokens !== undefined && outputTokens !== undefined && (
        <p class="dim">{t("tokens", { input: inputTokens, output: outputTokens })}</p>
      )}
    </article>
  );
}

function Part({ part, isGrowing }: { readonly part: AnswerPart; readonly isGrowing: boolean }) {
  if (part.type === "call") return <Call call={part.call} />;
  if (part.type === "reasoning")
    return (
      <details>
        <summary>{t("reasoning")}</summary>
        <p dir="auto">
          <Foreign text={part.text} />
        </p>
      </details>
    );
  // A text is formatted when it is complete, because each piece would format all of it again.
  if (!isGrowing) return <Markdown text={part.text} />;
  return (
    <pre class="text" dir="auto">
      <Foreign text={part.text} />
    </pre>
  );
}

function Call({ call: { tool, arguments: args, result } }: { readonly call: CallEntry }) {
  return (
    <details class="chat-call" aria-label={tool}>
      <summary>
        <Name text={tool} />{" "}
        {result ? (
          <>
            <Outcome outcome={result.ok ? "ok" : (result.kind ?? "error")} /> {formatMs(result.durationMs)}
          </>
        ) : (
          t("running")
        )}
      </summary>
      <p>
        <a href={href("tools", tool)}>{t("replay")}</a>
      </p>
      <Json value={args} />
      {result && <Result result={resultOf(result.value)} />}
    </details>
  );
}

/** Returns the plain value of a tool as MCP's result: blocks of content as such, and any other value as structured. */
function resultOf(value: unknown): Readonly<Record<string, unknown>> {
  const all = Array.isArray(value) ? value : [value];
  const isContent = all.length > 0 && all.every((one) => BLOCKS.has(String(toSchema(one)["type"])));
  if (isContent) return { content: all };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  return { structuredContent: value };
}

const BLOCKS: ReadonlySet<string> = new Set(["image", "audio", "resource", "resource_link"]);

interface SaveButtonProps {
  readonly name: string;
  readonly type: string;
  readonly text: () => string;
}

function SaveButton({ name, type, text }: SaveButtonProps) {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([text()], { type }));
    const link = document.createElement("a");
    Object.assign(link, { href: address, download: name }).click();
    URL.revokeObjectURL(address);
  };
  return (
    <button type="button" onClick={save}>
      {t("saveAs", { name })}
    </button>
  );
}
