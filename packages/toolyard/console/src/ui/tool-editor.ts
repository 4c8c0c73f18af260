// The editor of the view Code. Loaded with this view only.
import { autocompletion, completionKeymap, type Completion, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput, StreamLanguage } from "@codemirror/language";
import { python } from "@codemirror/legacy-modes/mode/python";
import type { Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import type { CodeTool } from "../../../src/features/console/work-types.ts";
import { get } from "../api.ts";
import { openEditor } from "./editor-base.ts";

export type CodeLanguage = "python" | "javascript" | "typescript";

export interface ToolEditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly language: CodeLanguage;
  readonly label: string;
  readonly onText: (text: string) => void;
  readonly onRun: () => void;
}

/** Looks of the list of completions, and the size of the editor. */
const LOOKS = EditorView.theme({
  "&": { border: "1px solid var(--line)", maxHeight: "60vh" },
  ".cm-scroller": { minHeight: "12rem" },
  ".cm-gutters": { backgroundColor: "var(--soft)", color: "var(--dim)", border: "none" },
  ".code-info": { maxWidth: "30rem", whiteSpace: "pre-wrap" },
  ".cm-tooltip": { backgroundColor: "var(--back)", color: "var(--ink)", border: "1px solid var(--line)" },
});

/** Opens an editor that completes the names and arguments of the hub's tools. Tab leaves the editor. */
export function openToolEditor({ language, onRun, ...options }: ToolEditorOptions): EditorView {
  const run = (): boolean => {
    onRun();
    return true;
  };
  return openEditor({
    ...options,
    extensions: [
      lineNumbers(),
      history(),
      bracketMatching(),
      indentOnInput(),
      LOOKS,
      keymap.of([
        { key: "Mod-Enter", run, preventDefault: true },
        ...completionKeymap,
        ...defaultKeymap,
        ...historyKeymap,
      ]),
      syntaxOf(language),
    ],
  });
}

function syntaxOf(language: CodeLanguage): Extension {
  const source = autocompletion({ override: [(context) => complete(context, language)], activateOnTyping: true });
  if (language === "python") return [StreamLanguage.define(python), source];
  return [javascript({ typescript: language === "typescript" }), source];
}

/** Part of a path: `.name` or `["name"]`. */
const PATH = String.raw`tools(?:\.[\w$]*|\["[^"\n]*"?\]?)+`;
/** Number of characters before the cursor in which a call is looked for. */
const MAX_BACK = 2000;

async function complete(context: CompletionContext, language: CodeLanguage) {
  const path = context.matchBefore(new RegExp(PATH));
  if (path) {
    const tools = await toolsFor(language, path.text);
    return { from: path.from, options: tools.map(toCompletion), filter: false };
  }
  return completeArguments(context, language);
}

async function completeArguments({ state, pos }: CompletionContext, language: CodeLanguage) {
  const before = state.sliceDoc(Math.max(0, pos - MAX_BACK), pos);
  const call = new RegExp(String.raw`(${PATH})\(\s*\{?([^(){}]*)$`).exec(before);
  const word = /(?<![\w$])[\w$]*$/.exec(before)![0];
  // An argument begins after the bracket or a comma; behind a colon or an equals sign is its value.
  if (!call || !/(?:^|,)(?<!\s)\s*(?<![\w$])[\w$]*$/.test(call[2]!)) return null;
  const found = (await toolsFor(language, call[1]!)).find(({ path }) => path === call[1]);
  if (!found) return null;
  const end = language === "python" ? "=" : ": ";
  const options = found.parameters.map(({ name, type, isRequired, description }): Completion => {
    const key = language === "python" || /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const detail = isRequired ? type : `${type}?`;
    return { label: name, detail, info: description, apply: key + end, type: "property", boost: isRequired ? 1 : 0 };
  });
  return { from: pos - word.length, options };
}

function toCompletion({ path, signature, description }: CodeTool): Completion {
  return {
    label: path,
    type: "function",
    // A text node, so that no markup of a description is interpreted.
    info: () => {
      const box = document.createElement("div");
      box.textContent = `${signature}\n\n${description}`;
      box.className = "code-info";
      return box;
    },
    apply: `${path}(`,
  };
}

const MAX_CACHED = 50;
const cache = new Map<string, Promise<readonly CodeTool[]>>();

function toolsFor(language: CodeLanguage, prefix: string): Promise<readonly CodeTool[]> {
  const search = new URLSearchParams({ language, prefix });
  const key = search.toString();
  const known = cache.get(key);
  if (known) return known;
  const asked = get<{ readonly tools: readonly CodeTool[] }>(`code/tools?${key}`).then(
    ({ tools }) => tools,
    () => [],
  );
  cache.set(key, asked);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
  return asked;
}

/** Forgets the known tools, because the lists of the hub have changed. */
export function forgetTools(): void {
  cache.clear();
}
