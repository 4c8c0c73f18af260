/** Style sheet of the home page, light and dark. */
export const HOME_STYLE = `
:root{color-scheme:light dark;--ink:#1c2024;--dim:#60646c;--line:#d9d9e0;--back:#fff;--soft:#f5f6f8;--mark:#0b68cb;
--well:#18794e;--busy:#8a5a00;--ill:#c62a2f}
@media(prefers-color-scheme:dark){
:root{--ink:#edeef0;--dim:#b0b4ba;--line:#363a3f;--back:#111113;--soft:#1c1e21;--mark:#70b8ff;
--well:#3dd68c;--busy:#ffc53d;--ill:#ff9592}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:48rem;padding:1.5rem 1rem 4rem;font:16px/1.5 system-ui,sans-serif;
color:var(--ink);background:var(--back);overflow-wrap:anywhere}
header{display:flex;gap:.75rem;align-items:baseline;flex-wrap:wrap}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}
p{margin:.4rem 0}a{color:var(--mark)}.dim{color:var(--dim)}
nav{display:flex;gap:1.25rem;flex-wrap:wrap;margin:1rem 0}
details{border:1px solid var(--line);border-radius:.5rem;margin:.4rem 0}
summary{cursor:pointer;padding:.5rem .75rem}
.body{padding:.5rem .75rem .75rem;border-top:1px solid var(--line)}
.button{display:inline-block;padding:.35rem .75rem;border:1px solid var(--mark);border-radius:.4rem;
text-decoration:none;margin:.25rem 0}
code,pre{font:.85rem/1.5 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.6rem;margin:.4rem 0;
white-space:pre-wrap}
.copy{-webkit-user-select:all;user-select:all}
.sources{list-style:none;margin:0;padding:0}
.sources li{padding:.4rem 0;border-bottom:1px solid var(--line)}
.state{font-weight:600}.well{color:var(--well)}.busy{color:var(--busy)}.ill{color:var(--ill)}
`;
