import { StreamLanguage } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { EditorView, minimalSetup } from "codemirror";
import { openEditor } from "./editor-base.ts";

const LANGUAGES = { toml: () => StreamLanguage.define(toml) } as const;
export type EditorLanguage = keyof typeof LANGUAGES;

export interface FileEditorOptions {
  readonly parent: HTMLElement;
  readonly label: string;
  readonly text: string;
  readonly language: EditorLanguage;
  readonly isReadOnly: boolean;
  /** Called after each change of the text by the user. */
  readonly onText: (text: string) => void;
}

/** Opens an editor for the text of a file. */
export function openFileEditor({ language, isReadOnly, onText, ...options }: FileEditorOptions): EditorView {
  return openEditor({
    ...options,
    extensions: [minimalSetup, LANGUAGES[language](), EditorView.editable.of(!isReadOnly)],
    onText: (text, editor) => {
      if (!replaced.has(editor)) onText(text);
    },
  });
}

/**
 * Editors whose text `replaceText` is replacing. `onText` is not called for them, because only the user's changes are
 * reported.
 */
const replaced = new WeakSet<EditorView>();

/** Replaces the text of an editor, and keeps its selection where the text is equal. */
export function replaceText(editor: EditorView, text: string): void {
  const old = editor.state.doc.toString();
  if (old === text) return;
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
  let end = 0;
  while (end < Math.min(old.length, text.length) - from && old.at(-1 - end) === text.at(-1 - end)) end += 1;
  replaced.add(editor);
  editor.dispatch({ changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) } });
  replaced.delete(editor);
}
