/** What a browser does at a sign-in, without one: follows redirects and keeps the cookies of each site. */
export type SignInClient = ReturnType<typeof createSignInClient>;

export type Seen = { status: number; url: string; location: string | null; headers: Headers; text: string };

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

export function createSignInClient() {
  const jar = new Map<string, Map<string, string>>();
  const of = (host: string) => jar.get(host) ?? jar.set(host, new Map()).get(host) ?? new Map<string, string>();

  async function get(url: string, headers: Record<string, string> = {}): Promise<Seen> {
    const { host } = new URL(url);
    const cookies = [...of(host)].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...BROWSER, ...(cookies !== '' && { cookie: cookies }), ...headers },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /max-age=0/i.test(cookie)) of(host).delete(name);
      else of(host).set(name, value);
    }
    const location = response.headers.get('location');
    return {
      status: response.status,
      url,
      location: location === null ? null : new URL(location, url).href,
      headers: response.headers,
      text: await response.text(),
    };
  }

  return {
    get,
    cookiesOf: (url: string): ReadonlyMap<string, string> => of(new URL(url).host),
    /** Until something is no redirect, or `stop` says so of where it leads. */
    async follow(url: string, stop: (location: string) => boolean = () => false): Promise<Seen> {
      let seen = await get(url);
      for (let hops = 0; hops < 10 && seen.location !== null && !stop(seen.location); hops += 1)
        seen = await get(seen.location);
      return seen;
    },
  };
}
