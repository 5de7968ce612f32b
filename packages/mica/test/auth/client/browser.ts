/** A browser, for tests: as far as signing in takes one. */

/** Follows redirects, and brings the cookies along. */
export async function browse(url: string): Promise<void> {
  const cookies = new Map<string, string>();
  for (let at = url, hops = 0; hops < 20; hops++) {
    const answer = await fetch(at, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      if (value === "") cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    const location = answer.headers.get("location");
    await answer.text();
    if (location === null) return;
    at = new URL(location, at).href;
  }
}
