import { firstChars } from "toolyard/text";
/** Characters without width that letters and emoji need: joiners and variation selectors. */
const NEEDED = String.raw`\u200c\u200d\ufe0e\ufe0f\u115f\u1160\u180b-\u180f`;
/** Characters that are invisible to a user but visible to a model, and control characters of a terminal. */
const HIDDEN = new RegExp(
  String.raw`(?![${NEEDED}])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u0000-\u0008\u000e-\u001f\u007f-\u009f]`,
  "gu",
);
/** Line and page separators other than the line feed. */
const ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/gu;
/** Matches most texts with a single cheap test. */
const PLAIN = /^[\t\n -~]*$/;
const MAX_LINE = 500;

/** Returns text as a user sees it: without hidden characters. Models receive the same text. */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(ENDS, "\n").replaceAll(HIDDEN, "");
}

/** Returns the visible text as one line, truncated to `most` characters. */
export function visibleLine(text: string, most = MAX_LINE): string {
  const line = visibleText(firstChars(text, most * 2))
    .replaceAll(/\s+/gu, " ")
    .trim();
  return line.length <= most ? line : `${firstChars(line, most - 1).trimEnd()}…`;
}
