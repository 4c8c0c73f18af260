import { StreamLanguage } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { EditorView, minimalSetup } from "codemirror";
import { EDITOR_LOOKS } from "./editor-looks.ts";

const LANGUAGES = { toml: () => StreamLanguage.define(toml) } as const;
export type EditorLanguage = keyof typeof LANGUAGES;

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly language: EditorLanguage;
  readonly isReadOnly: boolean;
  readonly onText: (text: string) => void;
}

/**
 * Opens an editor in the shadow tree of an element. Its styles are constructed style sheets, which the policy of the
 * page permits; in the document itself the editor would add `style` elements.
 */
export function openEditor(element: HTMLElement, options: EditorOptions): EditorView {
  const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
  const { label, text, language, isReadOnly, onText } = options;
  return new EditorView({
    doc: text,
    root,
    parent: root as unknown as Element,
    extensions: [
      minimalSetup,
      LANGUAGES[language](),
      EDITOR_LOOKS,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, dir: "ltr", spellcheck: "false", tabindex: "0" }),
      EditorView.editable.of(!isReadOnly),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !replaced.has(update.view)) onText(update.state.doc.toString());
      }),
    ],
  });
}

/** Editors whose text is being replaced. Their owner knows the text already. */
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
