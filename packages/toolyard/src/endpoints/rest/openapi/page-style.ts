/** Style sheet of the page, light and dark. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ink:#1c2024;--dim:#60646c;--line:#d9d9e0;--back:#fff;--soft:#f5f6f8;--mark:#0b68cb}
@media(prefers-color-scheme:dark){
:root{--ink:#edeef0;--dim:#b0b4ba;--line:#363a3f;--back:#111113;--soft:#1c1e21;--mark:#70b8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;font:16px/1.5 system-ui,sans-serif;
color:var(--ink);background:var(--back)}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:.95rem;margin:1rem 0 .25rem}
p{margin:.4rem 0}a{color:var(--mark)}.dim{color:var(--dim)}
form{display:flex;gap:.5rem;margin:1rem 0}
input,button{font:inherit;padding:.35rem .6rem;border:1px solid var(--line);border-radius:.4rem;
background:var(--soft);color:inherit}
input{flex:1;min-width:0}
details{border:1px solid var(--line);border-radius:.5rem;margin:.4rem 0}
summary{cursor:pointer;padding:.5rem .75rem;display:flex;gap:.6rem;align-items:baseline;flex-wrap:wrap}
summary code{overflow-wrap:anywhere}
.body{padding:0 .75rem .75rem;border-top:1px solid var(--line)}
.verb{font:600 .75rem/1 ui-monospace,monospace;color:var(--mark);min-width:3.2rem}
code,pre{font:.85rem/1.5 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;
padding:.6rem;overflow-x:auto;margin:.4rem 0}
.words{white-space:pre-wrap}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600}
`;
