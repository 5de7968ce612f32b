/** URI templates: the expansions of RFC 6570 itself, matching that reverses them, and templates that are refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseUriTemplate, type TemplateValues } from "../../src/server/uri-template.js";

const expand = (template: string, values: TemplateValues) => parseUriTemplate(template).expand(values);

describe("expansions of RFC 6570", () => {
  // Section 1.2, levels 1 to 3.
  const basic = {
    var: "value",
    hello: "Hello World!",
    empty: "",
    path: "/foo/bar",
    x: "1024",
    y: "768",
  };
  // Section 1.2, level 4.
  const composite = {
    ...basic,
    list: ["red", "green", "blue"],
    keys: { semi: ";", dot: ".", comma: "," },
  };
  // Section 3.2.
  const all = {
    count: ["one", "two", "three"],
    dom: ["example", "com"],
    dub: "me/too",
    hello: "Hello World!",
    half: "50%",
    var: "value",
    who: "fred",
    base: "http://example.com/home/",
    path: "/foo/bar",
    list: ["red", "green", "blue"],
    keys: { semi: ";", dot: ".", comma: "," },
    v: "6",
    x: "1024",
    y: "768",
    empty: "",
    empty_keys: {},
    undef: undefined,
  };

  it.each([
    // Level 1
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    // Level 2
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["X{#var}", "X#value"],
    ["X{#hello}", "X#Hello%20World!"],
    // Level 3
    ["map?{x,y}", "map?1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["X{.var}", "X.value"],
    ["X{.x,y}", "X.1024.768"],
    ["{/var}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
  ])("levels 1 to 3: %s", (template, uri) => {
    expect(expand(template, basic)).toBe(uri);
  });

  it.each([
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{list}", "red,green,blue"],
    ["{list*}", "red,green,blue"],
    ["{keys}", "semi,%3B,dot,.,comma,%2C"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
    ["{+path:6}here", "/foo/bhere"],
    ["{+list}", "red,green,blue"],
    ["{+list*}", "red,green,blue"],
    ["{+keys}", "semi,;,dot,.,comma,,"],
    ["{+keys*}", "semi=;,dot=.,comma=,"],
    ["{#path:6}here", "#/foo/bhere"],
    ["{#list}", "#red,green,blue"],
    ["{#list*}", "#red,green,blue"],
    ["{#keys}", "#semi,;,dot,.,comma,,"],
    ["{#keys*}", "#semi=;,dot=.,comma=,"],
    ["X{.var:3}", "X.val"],
    ["X{.list}", "X.red,green,blue"],
    ["X{.list*}", "X.red.green.blue"],
    ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
    ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
    ["{/var:1,var}", "/v/value"],
    ["{/list}", "/red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
    ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
    ["{;hello:5}", ";hello=Hello"],
    ["{;list}", ";list=red,green,blue"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
    ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
    ["{?var:3}", "?var=val"],
    ["{?list}", "?list=red,green,blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
    ["{&var:3}", "&var=val"],
    ["{&list}", "&list=red,green,blue"],
    ["{&list*}", "&list=red&list=green&list=blue"],
    ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
    ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
  ])("level 4: %s", (template, uri) => {
    expect(expand(template, composite)).toBe(uri);
  });

  it.each([
    ["{count}", "one,two,three"],
    ["{/count*}", "/one/two/three"],
    ["{;count*}", ";count=one;count=two;count=three"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["{.half,who}", ".50%25.fred"],
    ["www{.dom*}", "www.example.com"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.empty_keys}", "X"],
    ["X{.empty_keys*}", "X"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,bar,who}", ";v=6;who=fred"],
    ["{;x,y,undef}", ";x=1024;y=768"],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{&x,y,undef}", "&x=1024&y=768"],
  ])("section 3.2: %s", (template, uri) => {
    expect(expand(template, all)).toBe(uri);
  });

  it("keeps encoded triplets where reserved characters pass", () => {
    expect(expand("{+v}", { v: "a%20b%zz 100%" })).toBe("a%20b%25zz%20100%25");
    expect(expand("{v}", { v: "a%20b" })).toBe("a%2520b");
  });

  it("encodes what literals hold beyond ASCII, and counts characters in prefixes", () => {
    expect(expand("x:/größe/{v:2}", { v: "äöü" })).toBe("x:/gr%C3%B6%C3%9Fe/%C3%A4%C3%B6");
    expect(expand("{v:1}", { v: "😀😀" })).toBe("%F0%9F%98%80");
  });

  it("leaves out what has no value, and looks at own properties only", () => {
    expect(expand("{constructor}{/toString}{?__proto__}", {})).toBe("");
    expect(expand("{?__proto__}", JSON.parse('{"__proto__":"x"}') as TemplateValues)).toBe("?__proto__=x");
    expect(expand("a{?list*}", { list: [] })).toBe("a");
  });

  it("names the variable whose value is unfit", () => {
    expect(() => expand("{v}", { v: "\ud800" })).toThrow(/the value of v has half a surrogate pair/);
    expect(() => expand("{v}", { v: 5 } as never)).toThrow(
      /the value of v must be a string, a list or an object/,
    );
    expect(() => expand("{v*}", { v: [5] } as never)).toThrow(/the value of v must hold strings, got number/);
  });
});

describe("match", () => {
  it.each<[string, string, object | undefined]>([
    ["file:///{path}", "file:///My%20File.txt", { path: "My File.txt" }],
    ["file:///{path}", "file:///a%2Fb", { path: "a/b" }],
    ["file:///{path}", "file:///größe", { path: "größe" }],
    ["file:///{path}", "file:///gr%C3%B6%C3%9Fe", { path: "größe" }],
    ["file:///{path}", "file:///", { path: "" }],
    ["file:///{path}", "file:///a/b", undefined],
    ["file:///{path}", "file:///a?b", undefined],
    ["file:///{path}", "file:///a#b", undefined],
    ["file:///{path}", "file://a", undefined],
    ["file:///{path}", "FILE:///a", undefined],
    ["file:///{path}", "file:///%zz", undefined],
    ["file:///{path}", "file:///%C3", undefined],
    ["file:///{path}", "file:///\ud800", undefined],
    ["file:///{+path}", "file:///a/b%20c?d#e", { path: "a/b c?d#e" }],
    ["file:///{+path}/raw", "file:///a/raw/b/raw", { path: "a/raw/b" }],
    ["file://{/path*}", "file:///a/b%20c/d", { path: ["a", "b c", "d"] }],
    ["file://{/path*}", "file://", {}],
    ["x:größe/{a}", "x:gr%C3%B6%C3%9Fe/1", { a: "1" }],
    ["x:{a}-{b}", "x:1-2", { a: "1", b: "2" }],
    ["x:{name}.txt", "x:a.txt.txt", { name: "a.txt" }],
    ["x:{name}.txt", "x:.txt", { name: "" }],
    ["x:{name}.txt", "x:a.md", undefined],
    ["x:{a,b}", "x:1,2", { a: "1", b: "2" }],
    ["x:{a,b}", "x:1", { a: "1" }],
    ["x:{a,b}", "x:1,2,3", undefined],
    ["x:{a}", "x:1,2", { a: "1,2" }],
    ["x:{a*}", "x:1,2", { a: ["1", "2"] }],
    ["x:{id}{?q,limit}", "x:7", { id: "7" }],
    ["x:{id}{?q,limit}", "x:7?limit=5&q=a%26b", { id: "7", limit: "5", q: "a&b" }],
    ["x:{id}{?q,limit}", "x:7?q=", { id: "7", q: "" }],
    ["x:{id}{?q,limit}", "x:7?q", { id: "7", q: "" }],
    ["x:{id}{?q,limit}", "x:7?other=1", undefined],
    ["x:{id}{?q,limit}", "x:7?q=1&q=2", undefined],
    ["x:{id}{?q*}", "x:7?q=1&q=2", { id: "7", q: ["1", "2"] }],
    ["x:?a=1{&b}", "x:?a=1&b=2", { b: "2" }],
    ["x:?a=1{&b}", "x:?a=1", {}],
    ["x:a{;v,e}", "x:a;v=1;e", { v: "1", e: "" }],
    ["x:{host}{.ext}", "x:a.tar", { host: "a", ext: "tar" }],
    ["x:f{.ext}", "x:f.tar.gz", { ext: "tar.gz" }],
    ["x:f{.ext*}", "x:f.tar.gz", { ext: ["tar", "gz"] }],
    ["x:f{#part}", "x:f#a/b", { part: "a/b" }],
    ["x:f{#part}", "x:f", {}],
    ["x:{v:3}", "x:abc", { v: "abc" }],
    ["x:{v:3}", "x:abcd", undefined],
    ["x:{v:1}", "x:%F0%9F%98%80", { v: "😀" }],
    ["x:a{/b}/c", "x:a/c", {}],
    ["x:a{/b}/c", "x:a/1/c", { b: "1" }],
    ["x:a{/b}", "x:a/1/2", undefined],
    ["x:a{/b}{?q}", "x:a?q=/", { q: "/" }],
    ["x:{__proto__}", "x:1", JSON.parse('{"__proto__":"1"}') as object],
    ["x:{?__proto__}", "x:?__proto__=1", JSON.parse('{"__proto__":"1"}') as object],
    ["x:{?a}", "x:?__proto__=1", undefined],
    ["x:fixed", "x:fixed", {}],
    ["x:fixed", "x:fixed2", undefined],
    ["x:fixed", "", undefined],
  ])("%s of %s", (template, uri, variables) => {
    const found = parseUriTemplate(template).match(uri);
    expect(found).toEqual(variables);
    expect(JSON.stringify(found)).toBe(JSON.stringify(variables));
  });

  it.each([
    ["{a}{b}", /nothing separates/],
    ["x:{a}{+b}", /nothing separates/],
    ["x:{a}/{a}", /the variable a twice/],
    ["x:{a:1,a}", /the variable a twice/],
    ["x{/a,b}{/c}", /begins with \/, like every value of the first/],
    ["x{/a*}{/b}", /begins with \//],
    ["x{?a,b}{&c}", /begins with &/],
  ])("says why nothing can be matched with %s", (template, message) => {
    const parsed = parseUriTemplate(template);
    expect(parsed.ambiguity).toMatch(message);
    expect(() => parsed.match("x:y")).toThrow(TypeError);
    expect(parsed.expand({ a: "1", b: "2", c: "3" })).not.toBe("");
  });

  it("lists each variable once, in order", () => {
    expect(parseUriTemplate("x:{b,a}{?c*,d:3}").variables).toEqual(["b", "a", "c", "d"]);
    expect(parseUriTemplate("x:{a}/{a}").variables).toEqual(["a"]);
  });
});

describe("round trips", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 20 });
  // Letters and digits never stand for anything else.
  const plain = fc.stringMatching(/^[A-Za-z0-9]{1,10}$/);
  const TEMPLATES: [string, Record<string, fc.Arbitrary<string | string[]>>][] = [
    ["file:///{path}", { path: text }],
    ["db://{schema}/{table}{?where,limit}", { schema: text, table: text, where: text, limit: text }],
    ["x:{a,b,c}", { a: text, b: text, c: text }],
    ["x:{a}-{b}", { a: plain, b: text }],
    ["x:{v:5}", { v: fc.string({ unit: "grapheme-ascii", maxLength: 5 }) }],
    ["file://{/path*}{?q}", { path: fc.array(text, { minLength: 1, maxLength: 5 }), q: text }],
    ["x:y{;list*}", { list: fc.array(text, { minLength: 1, maxLength: 5 }) }],
    ["x:y{?list*,z}", { list: fc.array(text, { minLength: 1, maxLength: 5 }), z: text }],
    ["x:{name}{.ext}", { name: plain, ext: plain }],
    ["x:a{#part}", { part: text.filter((value) => !/%[0-9A-Fa-f]{2}/.test(value)) }],
    ["x:{+path}", { path: text.filter((value) => !/%[0-9A-Fa-f]{2}/.test(value)) }],
  ];

  it.each(TEMPLATES)("%s", (source, arbitraries) => {
    const template = parseUriTemplate(source);
    fc.assert(
      fc.property(fc.record(arbitraries), (values) => {
        const uri = template.expand(values);
        expect(template.match(uri)).toEqual(values);
      }),
      { numRuns: 300 },
    );
  });

  it("expands what was matched to the same URI, for every URI that it makes", () => {
    const literal = fc.constantFrom("x:", "/a", "-", ".", "y", "?z=1");
    const names = ["a", "b", "c", "d"];
    const expression = fc
      .tuple(
        fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&"),
        fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
      )
      .map(
        ([operator, used, explode]) =>
          `{${operator}${used.map((name) => name + (explode ? "*" : "")).join(",")}}`,
      );
    const sources = fc
      .array(fc.oneof(literal, expression), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(sources, fc.dictionary(fc.constantFrom(...names), plain), (source, values) => {
        const template = parseUriTemplate(source);
        if (template.ambiguity !== undefined) return;
        const uri = template.expand(values);
        const matched = template.match(uri);
        // Going from left to right, not every URI is recognised; one that is must be the same again.
        if (matched !== undefined) expect(template.expand(matched)).toBe(uri);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("hostile input", () => {
  it("copes with a megabyte of anything", () => {
    const templates = [
      "x:{a}",
      "x:{+a}/b/{+c}",
      "x:{a,b,c}",
      "x:{a*}",
      "x{/a*}",
      "x{.a*}{/b}",
      "x:{a}-{b}-{c}-{d}",
      "x:{?a*,b}",
      "x:y{;a*}{#b}",
    ].map(parseUriTemplate);
    const bodies = ["a", "/", "-", ",", ".", "?a=1", "&a=1", ";a=1", "%20", "%", "ä", "-a", "/b/", "/b"];
    for (const body of bodies) {
      const uri = `x:${body.repeat(Math.ceil(1_000_000 / body.length))}`;
      for (const template of templates) {
        const found = template.match(uri);
        if (found !== undefined) expect(Object.keys(found).length).toBeGreaterThan(0);
      }
    }
    const list = parseUriTemplate("x:{?a*}").match(`x:?${"a=1&".repeat(250_000)}a=1`);
    expect(list?.["a"]).toHaveLength(250_001);
  });

  it.each([
    ["{", /a { without its }/],
    ["x:{a", /a { without its }/],
    ["x:}", /a } without its {/],
    ["x:{a}}", /a } without its {/],
    ["x:{}", /the expression {}/],
    ["x:{a,}", /the expression {a,}/],
    ["x:{ a}", /the expression/],
    ["x:{a b}", /the expression/],
    ["x:{a{b}}", /the expression/],
    ["x:{=a}", /the expression {=a}/],
    ["x:{|a}", /the expression/],
    ["x:{a:0}", /the expression/],
    ["x:{a:10000}", /the expression/],
    ["x:{a:x}", /the expression/],
    ["x:{a*:3}", /the expression/],
    ["x:{a.}", /the expression/],
    ["x:{.}", /the expression/],
    ["x:{a..b}", /the expression/],
    ["x:{a-b}", /the expression/],
    ["x:{%zz}", /the expression/],
    ["x:a b", /the character " "/],
    ["x:a%2", /the character "%"/],
    ["x:<a>", /the character "<"/],
    ['x:"', /the character/],
    ["x:a\\b", /the character/],
    ["x:\n{a}", /the character/],
    ["x:\ud800", /half a surrogate pair/],
  ])("refuses the template %j", (template, message) => {
    expect(() => parseUriTemplate(template)).toThrow(TypeError);
    expect(() => parseUriTemplate(template)).toThrow(message);
    expect(() => parseUriTemplate(template)).toThrow(JSON.stringify(template));
  });

  it("takes every name and literal of the grammar", () => {
    const template = parseUriTemplate("x:it's(~)!$&,;=@*+[]{a.b_1.C%20d}");
    expect(template.variables).toEqual(["a.b_1.C%20d"]);
    expect(template.match("x:it's(~)!$&,;=@*+[]v")).toEqual({ "a.b_1.C%20d": "v" });
  });
});
