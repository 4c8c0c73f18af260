import { safeToShow } from "../../core/text/hidden-text.ts";
import { createInterface, type Interface } from "node:readline";
import { Agent } from "../../agent/agent.ts";
import { resolveAgent, type AgentOptions } from "../../agent/options.ts";
import type { AgentOutcome, StopReason } from "../../agent/outcome.ts";
import type { AgentHub } from "../../agent/agent-hub.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { tracingOf } from "../../core/ports/tracing.ts";
import { loadLanguageModel } from "../../models/language-model.ts";
import { assertKey, parseModelName } from "../../models/model-name.ts";
import { resolveModels, type ModelsOptions } from "../../models/options.ts";
import { jsonView, textView, type ChatView } from "../output/chat-view.ts";
import { writeAbovePrompt } from "../output/prompt-safe-output.ts";
import { colorsOf } from "../output/colors.ts";
import { EXIT, UsageError } from "../failure.ts";
import { runChatCommand } from "../input/chat-commands.ts";
import { claimInterrupts } from "../input/interrupts.ts";
import { flush, printPainted, type Io } from "../output/io.ts";
import { readTimeout } from "../hub-access/one-call.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { withHub } from "../hub-access/session.ts";
import { loadSettings } from "../hub-access/settings.ts";

interface Options extends SharedOptions {
  readonly model?: string;
  readonly once?: string;
  readonly maxIterations?: string;
  readonly timeout?: string;
  readonly task?: boolean;
}

/** A conversation and its output. */
interface ChatSession {
  readonly agent: Agent;
  readonly toolyard: Toolyard;
  readonly view: ChatView;
  readonly model: string;
  readonly options: Options;
  readonly io: Io;
}

export const run: CommandAction<Options> = async (_args, options, io) => {
  if (options.task) return await startTask(options, io);
  const { model, models, settings } = await readSettings(options, io);
  return withHub(options, io, async (toolyard) => {
    const view = options.json ? jsonView(io) : textView(io);
    await using agent = new Agent({
      hub: () => Promise.resolve(watched(toolyard, view)),
      model: () => loadLanguageModel(model, models),
      options: settings,
      tracing: tracingOf(toolyard),
    });
    const chat: ChatSession = { agent, toolyard, view, model, options, io };
    const code = options.once === undefined ? await converse(chat) : await answerOnce(chat, options.once);
    await flush(io.stdout);
    return code;
  });
};

/** Lets the agent of a running hub answer the question as a task. Its model and limits are those of the hub. */
async function startTask({ once, model, timeout, maxIterations, ...shared }: Options, io: Io): Promise<number> {
  if (once === undefined) throw new UsageError("--task needs a question: --once <question>.");
  if (model !== undefined || timeout !== undefined)
    throw new UsageError(
      "--task uses the model and the time limit of the running hub. Leave out --model and --timeout.",
    );
  const limits = maxIterations === undefined ? {} : { maxIterations: readCount(maxIterations) };
  return (await import("./tasks.ts")).startAnswer({ message: once, ...limits }, shared, io);
}

/** Wraps the hub so that notifications of tools are passed to the view. */
function watched(toolyard: Toolyard, view: ChatView): AgentHub {
  const { notification } = view;
  if (!notification) return toolyard;
  return {
    list: (options) => toolyard.list(options),
    facts: () => toolyard.facts(),
    call: (tool, args, callOptions) =>
      toolyard.call(tool, args, { ...callOptions, onNotice: (said) => notification(tool, said) }),
  };
}

interface ChatSettings {
  /** Model as `provider/name`. */
  readonly model: string;
  readonly models: ModelsOptions;
  readonly settings: AgentOptions;
}

/** Reports missing settings, such as an API key, before anything is started. */
async function readSettings(options: Options, io: Io): Promise<ChatSettings> {
  const { models: rawModels, agent } = (await loadSettings(options, io)).tree;
  const models = resolveModels(rawModels, io.env);
  const model = options.model ?? models.language;
  if (model === undefined)
    throw new UsageError(
      "No model is configured. Name one with --model, such as mistral/mistral-large-latest or ollama/qwen3, or set " +
        "`language` in [models].",
    );
  assertKey(parseModelName(model, models.providers).provider);
  const { maxIterations, timeout } = options;
  const flags = {
    ...(maxIterations === undefined ? {} : { max_iterations: readCount(maxIterations) }),
    ...(timeout === undefined ? {} : { timeout: readTimeout(timeout) }),
  };
  return { model, models, settings: resolveAgent({ ...agent, ...flags }) };
}

function readCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new UsageError(`--max-iterations must be a whole number from 1 to 1000, got "${text}".`);
}

async function answerOnce({ agent, view, io }: ChatSession, question: string): Promise<number> {
  return exitCode(await agent.chat(question, { signal: io.interrupted, onEvent: (event) => view.show(event) }));
}

/** Returns the exit code. An answer that a limit ended counts as a failure. */
function exitCode({ stopReason }: AgentOutcome): number {
  const codes: Partial<Record<StopReason, number>> = {
    final: EXIT.ok,
    clarify: EXIT.ok,
    cancelled: KINDS.cancelled.exit,
    timeout: KINDS.timeout.exit,
  };
  return codes[stopReason] ?? KINDS.tool_error.exit;
}

/**
 * Answers line by line until the input ends. Ctrl+C stops the current answer; a second Ctrl+C without a current answer
 * ends the program.
 */
async function converse(chat: ChatSession): Promise<number> {
  const { agent, toolyard, view, options, io } = chat;
  if (!options.json) await greet(chat);
  // From here on, input lines can arrive, so the code must not await anything before it reads them.
  const input = openInput(io, options.json === true);
  let answering: AbortController | undefined;
  let isWarned = false;
  let isClosed = false;
  let isPrompted = false;
  input.once("close", () => (isClosed = true));
  const prompt = (): void => {
    if (!input.terminal || isClosed) return;
    isPrompted = true;
    input.prompt();
  };
  const onInterrupt = (): void => {
    if (answering) return answering.abort();
    if (input.terminal && input.line !== "") return discardLine(input);
    if (isWarned) return input.close();
    isWarned = true;
    io.stderr.write("\nPress Ctrl+C again, or Ctrl+D, to end the chat.\n");
    prompt();
  };
  const end = (): void => input.close();
  const release = claimInterrupts(onInterrupt);
  input.on("SIGINT", onInterrupt);
  io.interrupted.addEventListener("abort", end, { once: true });
  const unwatch = input.terminal
    ? writeAbovePrompt(io.stderr, input, () => isPrompted && !isClosed && answering === undefined)
    : () => {};
  try {
    prompt();
    for await (const line of input) {
      isWarned = false;
      const words = line.trim();
      const command = await runChatCommand(line, { toolyard, io, clear: () => agent.clear() });
      if (command) view.command(command);
      if (command?.ends) break;
      if (!command && words !== "") {
        answering = new AbortController();
        await agent.chat(words, {
          signal: AbortSignal.any([answering.signal, io.interrupted]),
          onEvent: (event) => view.show(event),
        });
        answering = undefined;
      }
      if (io.interrupted.aborted) break;
      prompt();
    }
    return EXIT.ok;
  } finally {
    unwatch();
    io.interrupted.removeEventListener("abort", end);
    release();
    input.close();
  }
}

/** Discards the typed line. Its text stays visible and a new line begins, as in a shell. */
function discardLine(input: Interface): void {
  input.write(null, { ctrl: true, name: "e" });
  process.stdout.write("^C\n");
  input.write(null, { ctrl: true, name: "u" });
}

/**
 * Without a terminal at both ends, or with JSON events, no prompt is shown, and each line of the input is a question.
 */
function openInput(io: Io, isJson: boolean): Interface {
  const isTerminal = process.stdin.isTTY === true && io.width !== undefined && !isJson;
  return createInterface({
    input: process.stdin,
    terminal: isTerminal,
    prompt: isTerminal ? "> " : "",
    ...(isTerminal ? { output: process.stdout } : {}),
  });
}

async function greet({ model, io }: ChatSession): Promise<void> {
  await printPainted(
    io.stderr,
    colorsOf(io).dim(
      `${safeToShow(model)} with the tools of the hub. Ctrl+C stops an answer; /help shows the commands; ` +
        "/exit or Ctrl+D ends.",
    ),
  );
}
