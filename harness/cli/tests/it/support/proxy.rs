//! A link between an ssh client and its daemon that delays, breaks in a message, and falls silent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longest piece that passes at once, in bytes.
const PIECE: usize = 16 << 10;

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Open,
    /// Half of the next piece passes, and the connection ends.
    Breaking,
    /// The connection stays open, and nothing passes.
    Silent,
}

/// A TCP proxy on the loopback. Its threads end with the process.
pub(crate) struct Proxy {
    port: u16,
    /// Connections that are open, as far as the proxy knows.
    links: Arc<Mutex<Vec<Arc<Mutex<Link>>>>>,
}

impl Proxy {
    /// Starts a proxy to a port of the loopback. Each piece of up to 16 KiB waits for `delay`.
    pub(crate) fn start(to: u16, delay: Duration) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy { port: listener.local_addr().unwrap().port(), links: Arc::default() };
        let links = Arc::clone(&proxy.links);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                // A daemon that is down refuses the connection, and so does the proxy.
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let link = Arc::new(Mutex::new(Link::Open));
                links.lock().unwrap().push(Arc::clone(&link));
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let link = Arc::clone(&link);
                    std::thread::spawn(move || pass(from, to, &link, delay));
                }
            }
        });
        proxy
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Breaks all connections, each in the middle of its next piece. Returns false if there is none.
    pub(crate) fn cut(&self) -> bool {
        self.set(Link::Breaking)
    }

    /// Lets nothing pass through the present connections any more. Returns false if there is none.
    pub(crate) fn stall(&self) -> bool {
        self.set(Link::Silent)
    }

    fn set(&self, state: Link) -> bool {
        let links = std::mem::take(&mut *self.links.lock().unwrap());
        for link in &links {
            *link.lock().unwrap() = state;
        }
        !links.is_empty()
    }
}

/// Passes what comes in one direction, until the connection ends.
fn pass(mut from: TcpStream, mut to: TcpStream, link: &Mutex<Link>, delay: Duration) {
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).unwrap_or(0);
        std::thread::sleep(delay);
        let state = *link.lock().unwrap();
        let passes = match state {
            Link::Open => length,
            Link::Breaking => length / 2,
            Link::Silent => swallow(&mut from, &mut piece),
        };
        if to.write_all(&piece[..passes]).is_err() || passes == 0 || state != Link::Open {
            break;
        }
    }
    // The other direction ends, too.
    for stream in [from, to] {
        _ = stream.shutdown(Shutdown::Both);
    }
}

/// Takes what comes and passes nothing, until the connection ends.
fn swallow(from: &mut TcpStream, piece: &mut [u8]) -> usize {
    while from.read(piece).is_ok_and(|length| length > 0) {}
    0
}
