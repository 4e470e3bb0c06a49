//! stub
#[allow(unreachable_pub, dead_code)]
mod body;
#[allow(unreachable_pub, dead_code)]
mod http;
#[allow(unreachable_pub, dead_code, unused_imports)]
mod websocket;
