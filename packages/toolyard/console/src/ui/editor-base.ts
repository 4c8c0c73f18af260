import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import { EditorView } from "@codemirror/view";

/** Colors are variables of the page, so that the editor follows the appearance of the page. */
const COLORS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--dim)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.atom, tags.number, tags.bool], color: "var(--busy)" },
  { tag: [tags.propertyName, tags.keyword], color: "var(--mark)" },
  { tag: tags.bracket, fontWeight: "600" },
]);

const LOOKS = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--back)", height: "100%" },
  "&.cm-focused": { outline: "3px solid var(--mark)", outlineOffset: "-3px" },
  ".cm-scroller": { font: "0.85rem/1.5 ui-monospace, monospace", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--chosen)",
  },
});

/**
 * Inserts typed text as a change of the document. If the browser inserted it, Chromium would keep the colours of
 * replaced text in a `style` attribute, which the page's Content Security Policy refuses and reports.
 */
const TYPING = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || event.isComposing) return false;
    view.dispatch({ ...view.state.replaceSelection(event.data), userEvent: "input.type", scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly label: string;
  readonly text: string;
  readonly extensions: readonly Extension[];
  /** Called after each change of the text. */
  readonly onText: (text: string, editor: EditorView) => void;
}

/**
 * Opens an editor in the shadow tree of an element. Its styles are constructed style sheets, which the page's Content
 * Security Policy permits. In the document itself, the editor would add `style` elements.
 */
export function openEditor({ parent, label, text, extensions, onText }: EditorOptions): EditorView {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  return new EditorView({
    doc: text,
    root,
    parent: root,
    extensions: [
      ...extensions,
      syntaxHighlighting(COLORS),
      LOOKS,
      TYPING,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, dir: "ltr", spellcheck: "false", tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onText(update.state.doc.toString(), update.view);
      }),
    ],
  });
}
